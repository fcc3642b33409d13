"""A request frame as Kafka's own JSON, changed as text and written again: the codec as a library.

Run it: python examples/frame_to_json_and_back.py
"""

from __future__ import annotations

import json

import kwire

# MetadataRequest v12 of client "app" for topic "orders", without the 4-byte length.
FRAME = bytes.fromhex("0003 000c 0000002a 0003 617070 00 02 00000000000000000000000000000000 07 6f7264657273 00 01 00 00")


def main() -> None:
    request = kwire.decode_request(FRAME)
    version = request.header.api_version
    text = json.dumps(kwire.to_json(request.body, version))
    print(f"{type(request.body).__name__} v{version} by {request.header.client_id!r}: {text}")

    changed = kwire.from_json("MetadataRequest", json.loads(text.replace("orders", "invoices")), version)
    frame = kwire.encode_request(request.header, changed)
    print(f"{len(FRAME)} bytes read, {len(frame)} written, of topic {kwire.decode_request(frame).body.topics[0].name!r}")

    try:
        kwire.decode_request(FRAME[:-4])
    except kwire.WireError as error:
        print(f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
