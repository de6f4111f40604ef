#!/usr/bin/env bash
# What changed policies mean, against a revision, as Markdown: changes.sh REVISION
set -euo pipefail
base=$1
git diff --name-only --diff-filter=AMD "$base" -- '*.sdc' | while read -r file; do
  printf '### %s\n\n' "$file"
  if ! git cat-file -e "$base:$file" 2>/dev/null; then
    printf 'A new policy.\n\n'
  elif [ ! -e "$file" ]; then
    printf 'The policy is gone.\n\n'
  else
    printf '```text\n'
    sdcdsl diff "$base:$file" "$file" || [ $? -eq 7 ] || printf 'The policies cannot be compared.\n'
    printf '```\n\n'
  fi
done
