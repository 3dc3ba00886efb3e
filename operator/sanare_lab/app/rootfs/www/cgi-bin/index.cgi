#!/bin/sh
if [ -n "$BACKEND_URL" ] && ! busybox timeout 3 wget -q -O /dev/null "$BACKEND_URL"; then
  printf 'Status: 502 Bad Gateway\r\nContent-Type: text/plain\r\n\r\nbackend unreachable\n'
  exit
fi
printf 'Content-Type: text/plain\r\n\r\n%s\n' "$NONCE"
