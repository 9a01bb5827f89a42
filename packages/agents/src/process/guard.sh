#!/bin/sh
# Outlives the server whose id it is given, and ends what bears its marks when the pipe to it closes (invariant 8).
id=$1
trap '' HUP INT TERM
echo ready
exec >/dev/null

while read -r line; do
  [ "$line" = bye ] && exit 0
done

# How long processes may take to end after TERM, and how long KILL is repeated then, in seconds.
grace=2
limit=10

# Seconds since the machine started, whatever becomes of its clock.
now() {
  read -r up rest </proc/uptime
  echo "${up%.*}"
}

# What follows starts as few programs as it can: on a busy machine each may take tenths of a second.

# The start time of a process; nothing for a zombie or none.
started() {
  stat=''
  # The program's name may hold anything, line breaks too.
  while IFS= read -r line; do stat="$stat $line"; done <"/proc/$1/stat"
  # After the name comes the state; the start time is the twentieth from there.
  set -- ${stat##*) }
  [ "${1:-Z}" = Z ] || echo "${20}"
}

children() {
  for file in "/proc/$1/task/"*/children; do
    line=''
    read -r line <"$file"
    echo "$line"
  done
}

# pid@start of processes and of all below them.
tree() {
  for pid in "$@"; do
    at=$(started "$pid")
    [ -n "$at" ] || continue
    echo "$pid@$at"
    tree $(children "$pid")
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

is_over() { [ "$told" ] && [ $(($(now) - told)) -ge "$1" ]; }

# Sends KILL to those of pid@start that still run, if the grace is over.
kill_late() {
  is_over $grace || return
  for pid in $(running "$@"); do kill -s KILL "$pid" 2>/dev/null; done
}

# Each round looks again, because processes fork while they are being ended. A process that changes its program shows no
# mark for a moment: only several rounds that find nothing are an end. A round may take long: the grace is measured in
# seconds, and is over for what is known before the next processes are looked for.
known=''
told=''
empty=0
late=0
while [ $empty -lt 4 ]; do
  kill_late $known
  found=$(tree $(marked) $(running $known))
  empty=$((empty + 1))
  [ -n "$found" ] && empty=0
  for one in $found; do
    case " $known " in
      *" $one "*) ;;
      *)
        known="$known $one"
        kill -s TERM "${one%@*}" 2>/dev/null
        [ "$told" ] || told=$(now)
        ;;
    esac
  done
  kill_late $found
  # What hangs in the kernel cannot be ended.
  is_over $((grace + limit)) && late=$((late + 1))
  [ $late -ge 5 ] && exit 1
  sleep 0.1
done
