#!/usr/bin/env bash
# authority.sh: a private authority and one server certificate for localhost, in $PARTS_DIR/tls. Idempotent.
# Services and clients trust ca.pem (NODE_EXTRA_CA_CERTS); the servers of this folder show server.pem.
set -euo pipefail
tls=${PARTS_DIR:?the folder in which the parts keep everything}/tls
[ -e "$tls/server.pem" ] && exit
mkdir -p "$tls" && cd "$tls"
ec=(-newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc)
openssl req -x509 "${ec[@]}" -days 30 -subj "/CN=Parts authority $(openssl rand -hex 4)" -keyout ca.key -out ca.pem \
  -addext basicConstraints=critical,CA:true -addext keyUsage=critical,keyCertSign 2> openssl.log
openssl req "${ec[@]}" -subj /CN=localhost -keyout server.key -out server.csr 2>> openssl.log
# Clients compare the name that they connected to with these; the common name alone is not enough.
openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 30 -out server.pem 2>> openssl.log \
  -extfile <(printf 'subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\n')
# HAProxy and Ceph want both in one file.
cat server.pem server.key > server.both.pem
