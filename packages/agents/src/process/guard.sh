#!/bin/sh
# Outlives the server whose id it is given, and ends what bears its marks when the pipe to it closes (invariant 8). If a
# server of several is to be watched, also when the moment that the server has set passes: it is suspended, or cut off.
id=$1
is_watched=$2
trap '' HUP INT TERM
echo ready

# How long processes may take to end after TERM, and how long KILL is repeated then, in seconds.
grace=2
limit=10

# Sets `now` to the seconds since the machine started, whatever becomes of its clock, and `now_cs` to the hundredths. Both
# go on while the machine is suspended.
set_now() {
  read -r up rest </proc/uptime
  now=${up%.*}
  now_cs=$now${up#*.}
}

# A look starts two programs, whatever the number of processes: on a busy machine each may take tenths of a second. So
# functions set variables instead of printing.

# Sets `at`, `parent` and `session` of a process; `at`, its start time, is empty for a zombie or none.
look_up() {
  stat=''
  at=''
  # The program's name may hold anything, line breaks too.
  { while IFS= read -r line; do stat="$stat $line"; done <"/proc/$1/stat"; } 2>/dev/null
  # After the name comes the state; the start time is the twentieth from there.
  set -- ${stat##*) }
  [ "${1:-Z}" = Z ] || { parent=$2; session=$4; at=${20}; }
}

# Sets `found` to pid@start of the known processes, the marked ones, all below them, and all in a process session that
# one of them leads.
find_tree() {
  table=''
  for file in /proc/[0-9]*/stat; do
    file=${file#/proc/}
    look_up "${file%/stat}"
    [ -n "$at" ] && table="$table ${file%/stat}:$parent:$session:$at"
  done
  pids=" $(grep -lsE "LIMINAL_MARK=[[:graph:] ]*$id/" /proc/[0-9]*/environ | tr -c 0-9 ' ') "
  found=''
  count=-1
  while [ "$count" != "${#found}" ]; do
    count=${#found}
    rest=''
    for one in $table; do
      pid=${one%%:*}
      at=${one##*:}
      one=${one#*:}
      parent=${one%%:*}
      session=${one#*:}
      session=${session%:*}
      case "$pids$known " in
        *" $pid "* | *" $parent "* | *" $session "* | *" $pid@$at "*)
          found="$found $pid@$at"
          pids="$pids$pid "
          ;;
        *) rest="$rest $pid:$parent:$session:$at" ;;
      esac
    done
    table=$rest
  done
}

is_over() {
  set_now
  [ "$told" ] && [ $((now - told)) -ge "$1" ]
}

# Sends KILL to those of pid@start that still run, if the grace is over.
kill_late() {
  is_over $grace || return
  for one in "$@"; do
    look_up "${one%@*}"
    [ "$at" = "${one#*@}" ] && kill -s KILL "${one%@*}" 2>/dev/null
  done
}

# Each round looks again, because processes fork while they are being ended. A process that changes its program shows no
# mark for a moment: only several rounds that find nothing are an end. A round may take long: the grace is measured in
# seconds, and is over for what is known before the next processes are looked for.
end_all() {
  known=''
  told=''
  empty=0
  late=0
  while [ $empty -lt 4 ]; do
    kill_late $known
    find_tree
    empty=$((empty + 1))
    [ -n "$found" ] && empty=0
    for one in $found; do
      case " $known " in
        *" $one "*) ;;
        *)
          known="$known $one"
          kill -s TERM "${one%@*}" 2>/dev/null
          [ "$told" ] || { set_now; told=$now; }
          ;;
      esac
    done
    kill_late $found
    # What hangs in the kernel cannot be ended.
    is_over $((grace + limit)) && late=$((late + 1))
    [ $late -ge 5 ] && exit 1
    sleep 0.1
  done
}

# Begins to end everything, unless the server has set no moment or the moment is still to come. A server that is back in
# between goes on to own its agents, or ends them itself.
look_at_clock() {
  [ "$until" ] && [ ! "$ending" ] || return
  set_now
  [ "$now_cs" -ge "$until" ] || return
  end_all &
  ending=$!
}

set_until() {
  until=$1
  [ "$ending" ] && kill -s KILL "$ending" 2>/dev/null
  ending=''
}

# Reads what the server says, until it is gone.
watch() {
  until=''
  ending=''
  while read -r word at; do
    case $word in
      bye) exit 0 ;;
      gone) break ;;
      until) set_until "$at" ;;
      *) look_at_clock ;;
    esac
  done
  exec </dev/null
  end_all
}

# The lines of the server and, since sh cannot wait for a line for a while only, a blank one twice a second.
with_ticks() {
  while sleep 0.5 && echo; do :; done &
  cat
  echo gone
}

exec >/dev/null
if [ "$is_watched" ]; then with_ticks | watch; else watch; fi
