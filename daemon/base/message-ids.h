/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The MESSAGE_ID= of what an operator must act on or searches the journal for. Each has an entry in
 * packaging/storpower.catalog, which "journalctl -x" shows; tests/check-catalog.sh compares both.
 * An id never changes and is never given out again: make a new one with "journalctl --new-id128".
 */

#define MESSAGE_CLAIM_BEGAN       "0d3607863a3b4c02b9249df666a73feb"
#define MESSAGE_CLAIM_ENDED       "141cacc856b04dccbbe1f44cb34794f1"
#define MESSAGE_OVERRUN_BEGAN     "157b0b78299a4b5ea690db1edb01dd06"
#define MESSAGE_OVERRUN_ENDED     "b794a2b3062d4f63be0ca054a72b2438"
#define MESSAGE_GROUP_OVERRUN     "8cd33c73dd444532a03724b0711460b2"
#define MESSAGE_DEGRADED_BEGAN    "112be85a6dc743f883169f4c59b046b3"
#define MESSAGE_DEGRADED_ENDED    "4c74fd28b7ff45f1952e2082a8a79336"
#define MESSAGE_DEVICE_DISOBEYS   "93ee769135cc4c5c90d1569f26331069"
#define MESSAGE_KNOB_CONTESTED    "fd4fe076634141ffaece59ae11e5c13e"
#define MESSAGE_DISK_NOT_WAKING   "2df50dbe7e0c4722830180807af3e2c1"
#define MESSAGE_SENSOR_ASIDE      "42383baed8504343878d78e88c5c1dfc"
#define MESSAGE_SENSOR_BELIEVED   "1d679b5ec9f342059beaa39472d8d413"
#define MESSAGE_LEDGER_UNWRITTEN  "d91de352a5004c78a7008cbbfbdcdaff"
#define MESSAGE_LEDGER_WRITTEN    "bab3f9b9ba674f3da214e36c17b226db"
#define MESSAGE_CLAIMS_UNSAVED    "c4423e417a1843f78e044e9197e38d98"
#define MESSAGE_CLAIMS_SAVED      "8e1cce6df74d4cd387b232a3794c1eb9"
#define MESSAGE_JOURNAL_UNWRITTEN "a9862cd8b4eb447fab01879d5304c833"
#define MESSAGE_STATE_DAMAGED     "ec339f6931944eecadad1a967c0260b7"
#define MESSAGE_RELOADED          "a15e019dad4c43eeb53e8ee54b52461a"
#define MESSAGE_RELOAD_REFUSED    "a06453edd1744fe8b16a9b29e18167a5"
#define MESSAGE_POLICY_CHANGED    "b6290e5c9e014a70ad93ff13f10e967a"
#define MESSAGE_GIVEN_BACK        "e3b4f90962eb4aa5ad696cca0ad5f7c4"
#define MESSAGE_HOOK_VETOED       "01383bd65bb64705aa54a85d072bae45"
#define MESSAGE_NOT_GIVEN_BACK    "570625919d904995a84482359755ad04"
