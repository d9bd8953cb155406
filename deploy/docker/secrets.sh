#!/bin/sh
# Writes .env beside docker-compose.yml with new secrets, readable only by its owner. Keeps an existing file, because
# the data in the volumes is bound to its secrets.
set -eu
cd "$(dirname "$0")/../.."
[ ! -e .env ] || { echo '.env exists already' >&2; exit 1; }
umask 077
random() { od -An -N"$1" -tx1 /dev/urandom | tr -d ' \n'; }

# A certificate that nobody trusts, and the authority that issued it, as one line of PEM each.
signer() {
  folder=$(mktemp -d)
  (
    cd "$folder"
    exec 2>/dev/null
    printf '%s\n' '[root]' 'basicConstraints=critical,CA:TRUE' 'keyUsage=critical,keyCertSign,cRLSign' \
      'subjectKeyIdentifier=hash' '[leaf]' 'basicConstraints=critical,CA:FALSE' \
      'keyUsage=critical,digitalSignature' 'extendedKeyUsage=emailProtection' 'subjectKeyIdentifier=hash' \
      'authorityKeyIdentifier=keyid' >extensions
    subject='/O=LipSync on this machine/CN=Self-made'
    for name in root leaf; do
      openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out $name.key
      openssl req -new -key $name.key -subj "$subject $name (not trusted)" -out $name.csr
    done
    openssl x509 -req -in root.csr -signkey root.key -days 3652 -extfile extensions -extensions root -out root.pem
    openssl x509 -req -in leaf.csr -CA root.pem -CAkey root.key -CAcreateserial -days 3652 \
      -extfile extensions -extensions leaf -out leaf.pem
    cat leaf.pem root.pem >chain.pem
  ) && chain=$(one_line "$folder/chain.pem") && key=$(one_line "$folder/leaf.key")
  rm -r "$folder"
}
# The backslash is doubled for sed, which writes the line.
one_line() { awk '{ printf "%s\\\\n", $0 }' "$1"; }
chain='' key=''
signer || echo 'no certificate for content credentials: there is no openssl that could make one' >&2

sed -e "s/^POSTGRES_PASSWORD=$/&$(random 24)/" -e "s/^REDIS_PASSWORD=$/&$(random 24)/" \
  -e "s/^S3_ACCESS_KEY_ID=$/&dev$(random 8)/" -e "s/^S3_SECRET_ACCESS_KEY=$/&$(random 24)/" \
  -e "s/^MASTER_KEY=$/&$(random 32)/" \
  -e "s|^CONTENT_CREDENTIALS_CERTIFICATE=$|&$chain|" -e "s|^CONTENT_CREDENTIALS_KEY=$|&$key|" .env.example >.env
echo 'wrote .env'
