"""Reads a run as docs/redis-streams.md says, with nothing but redis-py: each event as a line of JSON."""

import json
import sys

import redis

url, key = sys.argv[1:]
client = redis.Redis.from_url(url, decode_responses=True)
last = "0"
while True:
    news = client.xread({key: last}, count=100, block=10_000)
    if not news:
        sys.exit("Nothing came for ten seconds.")
    for last, entry in news[0][1]:
        if "settled" in entry:
            print(json.dumps({"settled": True}))
            sys.exit()
        for name in ("seq", "payload", "traceContext"):
            entry[name] = json.loads(entry[name])
        print(json.dumps(entry), flush=True)
        if entry["type"] in ("response_done", "response_error"):
            sys.exit()
