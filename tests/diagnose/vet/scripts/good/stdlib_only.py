import os
import socket

rank = int(os.environ["RANK"])
with socket.create_connection((os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))) as sock:
    sock.sendall(str(rank).encode())
