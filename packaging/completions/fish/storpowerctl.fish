# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Completion of storpowerctl for fish. What a word may become storpowerctl says itself ("storpowerctl
# complete"); this only puts it into fish's terms.

function __storpowerctl_complete
    set -l words (commandline -opc)
    set -l last (commandline -ct)
    set -l before (string match -r -- '^--[a-z-]+=' $last)
    set -l rest (string replace -r -- '^--[a-z-]+=' '' $last)
    for line in (storpowerctl complete -- $words[2..-1] "$last" 2>/dev/null)
        switch $line
            case :file
                printf '%s\n' "$before"(__fish_complete_path "$rest")
            case :directory
                printf '%s\n' "$before"(__fish_complete_directories "$rest" '')
            case :command
                __fish_complete_command
            case '*'
                echo $line
        end
    end
end

complete -c storpowerctl -f -a '(__storpowerctl_complete)'
