#!/usr/bin/env bash
# nginx with TLS before the api. The api's PUBLIC_BASE_URL is this address, and its TRUSTED_PROXY_HOPS is 1.
#   nginx.sh version | run     as postgres.sh
# NGINX_PORT, API_PORT.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
command -v nginx > /dev/null || { echo 'nginx is not installed (apt-get install nginx-light)'; exit 77; }
[ "$1" = version ] && { nginx -v 2>&1 | cut -d/ -f2 | cut -d' ' -f1; exit; }

dir=$PARTS_DIR/nginx
"$here/authority.sh"
mkdir -p "$dir"
cat > "$dir/nginx.conf" << CONF
daemon off;
pid $dir/nginx.pid;
error_log stderr;
$([ "$(id -u)" = 0 ] && echo 'user root;')
events {}
http {
  access_log off;
$(for kind in client_body proxy fastcgi uwsgi scgi; do echo "  ${kind}_temp_path $dir/$kind;"; done)
  upstream api {
    server 127.0.0.1:${API_PORT:?};
    # Shorter than the api keeps them (620 s), so that none is used just as the api closes it.
    keepalive 32;
    keepalive_timeout 60s;
  }
  server {
    listen 127.0.0.1:${NGINX_PORT:-8443} ssl http2;
    ssl_certificate $PARTS_DIR/tls/server.pem;
    ssl_certificate_key $PARTS_DIR/tls/server.key;
    ssl_protocols TLSv1.2 TLSv1.3;
    # Media go to the store by signed URLs: nothing large passes here.
    client_max_body_size 1m;
    location / {
      proxy_pass http://api;
      proxy_http_version 1.1;
      proxy_set_header Connection '';
      proxy_set_header Host \$http_host;
      # Replaces what a caller claims; appending would let it choose the address that is limited.
      proxy_set_header X-Forwarded-For \$remote_addr;
    }
  }
}
CONF
exec nginx -p "$dir" -c "$dir/nginx.conf" -e stderr
