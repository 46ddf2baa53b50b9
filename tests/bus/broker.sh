# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154 # of lib.sh
# Sourced after lib.sh: mosquitto, an MQTT broker, at 127.0.0.1:$broker_port.

broker=$tmp/broker broker_pid=''
mosquitto=$(PATH=$PATH:/usr/sbin command -v mosquitto) && command -v mosquitto_pub mosquitto_passwd >/dev/null ||
	{ echo "Bail out! mosquitto and its clients are missing: run packaging/deps"; exit 1; }
mkdir "$broker"
broker_port=$(free_port)
: >"$broker/users"
cat >"$broker/conf" <<-END
	listener $broker_port 127.0.0.1
	allow_anonymous false
	password_file $broker/users
	log_dest stderr
	user $(id -un)
END

# Whatever they are called: it cannot judge tokens.
broker_trusts_all() {
	sed -i -e '/^password_file/d' -e 's/^allow_anonymous.*/allow_anonymous true/' "$broker/conf"
}
# From now on it speaks TLS, as "localhost" with a certificate of $broker/ca.pem.
broker_encrypts() {
	(
		cd "$broker" &&
			openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=ca -keyout ca.key -out ca.pem &&
			openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=localhost -keyout key.pem -out request.pem &&
			openssl x509 -req -in request.pem -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 \
				-extfile <(echo subjectAltName=DNS:localhost) -out cert.pem
	) >>"$broker/log" 2>&1 || return
	printf '%s\n' "cafile $broker/ca.pem" "certfile $broker/cert.pem" "keyfile $broker/key.pem" >>"$broker/conf"
}
broker_knows() { # USER PASSWORD
	mosquitto_passwd -b "$broker/users" "$1" "$2" 2>>"$broker/log"
	[[ ! $broker_pid ]] || kill -HUP "$broker_pid"
}
start_broker() {
	"$mosquitto" -c "$broker/conf" 2>>"$broker/log" &
	broker_pid=$!
}
stop_broker() {
	[[ $broker_pid ]] || return 0
	kill "$broker_pid"
	wait "$broker_pid" 2>/dev/null
	broker_pid=
}
at_end=(stop_broker "${at_end[@]}")
# As the user "vtn", whose password is "vtn".
publish() { # TOPIC
	mosquitto_pub -h 127.0.0.1 -p "$broker_port" -u vtn -P vtn -q 1 -t "$1" -m '{}'
}
