#!/bin/sh
# Outlives the server with the given id, and ends all processes with the server's marks when the server's pipe closes
# (invariant 8). If the server is watched (one of several servers), also when the time that the server has set passes:
# then the server is suspended, or cut off from the others.
id=$1
is_watched=$2
trap '' HUP INT TERM
echo ready

# Seconds from TERM to KILL, and seconds for which KILL is repeated.
grace=2
limit=10

# Sets `now` to the seconds, and `now_cs` to the hundredths of seconds, since the machine started. Both ignore changes of
# the clock and keep counting while the machine is suspended.
set_now() {
  read -r up rest </proc/uptime
  now=${up%.*}
  now_cs=$now${up#*.}
}

# A scan starts only two programs, for any number of processes: on a busy machine each may take tenths of a second.
# Therefore functions set variables instead of printing.

# Sets `at`, `parent` and `session` of a process; `at`, its start time, is empty for a zombie or none.
look_up() {
  stat=''
  at=''
  # The program's name may contain anything, even line breaks.
  { while IFS= read -r line; do stat="$stat $line"; done <"/proc/$1/stat"; } 2>/dev/null
  # The state follows the name; the start time is the twentieth field from the state on.
  set -- ${stat##*) }
  [ "${1:-Z}" = Z ] || { parent=$2; session=$4; at=${20}; }
}

# Sets `found` to pid@start of the known and marked processes, their descendants, and all processes in a process session
# that one of them leads.
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
  [ "$term_at" ] && [ $((now - term_at)) -ge "$1" ]
}

# Sends KILL to the given processes (pid@start) that still run, if the grace is over.
kill_late() {
  is_over $grace || return
  for one in "$@"; do
    look_up "${one%@*}"
    [ "$at" = "${one#*@}" ] && kill -s KILL "${one%@*}" 2>/dev/null
  done
}

# Each round scans again, because processes fork while they are being ended. A process that changes its program shows no
# mark for a moment, so several rounds must find nothing. A round may take long: the grace is measured in seconds and
# checked for the known processes before the next scan.
end_all() {
  known=''
  term_at=''
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
          [ "$term_at" ] || { set_now; term_at=$now; }
          ;;
      esac
    done
    kill_late $found
    # A process that hangs in the kernel cannot be ended.
    is_over $((grace + limit)) && late=$((late + 1))
    [ $late -ge 5 ] && exit 1
    sleep 0.1
  done
}

# Begins to end everything once the time that the server has set has passed. A server that returns in between keeps its
# agents, or ends them itself.
check_clock() {
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

# Reads the server's lines until the server is gone.
watch() {
  until=''
  ending=''
  while read -r word at; do
    case $word in
      bye) exit 0 ;;
      gone) break ;;
      until) set_until "$at" ;;
      *) check_clock ;;
    esac
  done
  exec </dev/null
  end_all
}

# Prints the server's lines and a blank line twice a second, because `read` in sh has no time limit.
with_ticks() {
  while sleep 0.5 && echo; do :; done &
  cat
  echo gone
}

exec >/dev/null
if [ "$is_watched" ]; then with_ticks | watch; else watch; fi
