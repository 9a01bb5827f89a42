#!/bin/sh
# Outlives the server whose id it is given, and ends what bears its marks when the pipe to it closes (invariant 8).
id=$1
trap '' HUP INT TERM
echo ready
exec >/dev/null

while read -r line; do
  [ "$line" = bye ] && exit 0
done

# The start time of a process; nothing for a zombie or none.
started() {
  stat=$(cat "/proc/$1/stat" 2>/dev/null) || return
  # After the program's name, which may hold anything, comes the state; the start time is the twentieth from there.
  set -- ${stat##*) }
  [ "$1" = Z ] || echo "${20}"
}

# pid@start of processes and of all below them.
tree() {
  for pid in "$@"; do
    at=$(started "$pid")
    [ -n "$at" ] || continue
    echo "$pid@$at"
    tree $(cat "/proc/$pid/task/"*/children 2>/dev/null)
  done
}

# Those of pid@start that still run.
running() {
  for one in "$@"; do
    [ "$(started "${one%@*}")" = "${one#*@}" ] && echo "${one%@*}"
  done
}

marked() {
  grep -lsE "LIMINAL_MARK=[[:graph:] ]*$id/" /proc/[0-9]*/environ | cut -d/ -f3
}

# Each round looks again, because processes fork while they are being ended. A process that changes its program shows no
# mark for a moment: only several rounds that find nothing are an end.
known=''
round=0
empty=0
while [ $round -lt 100 ]; do
  found=$(tree $(marked) $(running $known))
  empty=$((empty + 1))
  [ -n "$found" ] && empty=0
  [ $empty -ge 4 ] && exit 0
  for one in $found; do
    case " $known " in
      *" $one "*) ;;
      *) known="$known $one"; kill -s TERM "${one%@*}" 2>/dev/null ;;
    esac
    # After about two seconds of grace.
    [ $round -ge 20 ] && kill -s KILL "${one%@*}" 2>/dev/null
  done
  round=$((round + 1))
  sleep 0.1
done
