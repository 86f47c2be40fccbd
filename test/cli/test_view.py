"""The viewer's server as friends and foes meet it: test_view.py RIGOR"""
import base64
import gzip
import http.client
import json
import os
import re
import resource
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

RIGOR = sys.argv.pop(1)
JSON = {"Content-Type": "application/json"}


def run(*arguments):
    return subprocess.run([RIGOR, *map(str, arguments)], capture_output=True, text=True, timeout=300)


class Server:
    """A rigor view of its own, ended with it."""

    def __init__(self, *arguments, before=None):
        self.child = subprocess.Popen([RIGOR, *map(str, arguments)], stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, text=True, preexec_fn=before)
        self.told = self.child.stdout.readline()
        while self.told.startswith("{") and not self.told.endswith("}\n"):
            self.told += self.child.stdout.readline()
        self.port = int(re.search(r"http://localhost:(\d+)/", self.told)[1])

    def ask(self, method, path, body=None, headers=None):
        link = http.client.HTTPConnection("localhost", self.port, timeout=60)
        try:
            link.request(method, path, body, headers or {})
            answer = link.getresponse()
            return answer.status, answer.read()
        finally:
            link.close()

    def command(self, **fields):
        return self.ask("POST", "/command", json.dumps(fields), JSON)[0]

    def frame_at(self, when):
        """The first frame at or after a simulated time: machines may be slower than real time."""
        while True:
            found = self.frames(10)[-1]
            if found["time"] >= when:
                return found

    def frames(self, count):
        """So many events: time, contacts, generation, paused, q, poses of kinematic bodies."""
        link = http.client.HTTPConnection("localhost", self.port, timeout=60)
        link.request("GET", "/events")
        answer = link.getresponse()
        assert answer.status == 200, answer.read()
        found = []
        while len(found) < count:
            line = answer.readline()
            if line.startswith(b"data: "):
                data = base64.b64decode(line[6:])
                numbers = struct.unpack_from("<9i", data, 40)
                q = struct.unpack_from(f"<{numbers[4]}f", data, 76 + 4 * 9)
                skipped = 9 + sum(numbers[4:7])
                told = struct.unpack_from(f"<{7 * numbers[8]}f", data, 76 + 4 * skipped)
                found.append({"time": struct.unpack_from("<d", data)[0], "contacts": numbers[0],
                              "model": numbers[3], "paused": bool(numbers[7]), "q": q,
                              "kinematic": told})
        link.close()
        return found

    def end(self):
        self.child.send_signal(signal.SIGINT)
        code = self.child.wait(30)
        self.child.stdout.close()
        self.child.stderr.close()
        return code


def has_viewer():
    done = run("view", "--help")
    probe = subprocess.run([RIGOR, "view", "sliding", "--time", "0.01"], capture_output=True,
                           text=True, timeout=60)
    return done.returncode == 0 and "without" not in probe.stderr


class View(unittest.TestCase):
    def start(self, *arguments):
        server = Server("view", *arguments)
        self.addCleanup(lambda: self.assertEqual(server.end(), 0))  # sanitizers speak by it
        return server

    def test_page_and_scene(self):
        server = self.start("humanoid")
        status, page = server.ask("GET", "/")
        self.assertEqual(status, 200)
        self.assertIn(b"<!--rigor-data-->", gzip.decompress(page))
        status, scene = server.ask("GET", "/scene.bin")
        scene = gzip.decompress(scene)
        self.assertEqual(scene[:4], b"RGV1")
        header = json.loads(scene[8 : 8 + struct.unpack_from("<I", scene, 4)[0]])
        self.assertTrue(header["live"])
        self.assertEqual(header["scene"]["nq"], 30)

    # The page shows what `simulate` simulates: friction is an option of both.
    def test_physics(self):
        def speed(*arguments):
            server = self.start("sliding", *arguments)
            first = server.frame_at(0.1)
            later = server.frame_at(first["time"] + 0.2)
            return (later["q"][0] - first["q"][0]) / (later["time"] - first["time"])

        self.assertAlmostEqual(speed("--mu", 0), 1, places=5)
        self.assertEqual(run("view", "sliding", "--rho", 2, "--time", 0.1).returncode, 2)

    # An exported page says what it may do and whose code it holds, as the server's page does.
    def test_policy_and_notices(self):
        with tempfile.TemporaryDirectory() as folder:
            recording, page = os.path.join(folder, "a.h5"), os.path.join(folder, "a.html")
            run("simulate", "sliding", "--steps", 5, "--record", recording)
            self.assertEqual(run("view", recording, "--export", page).returncode, 0)
            with open(page, encoding="utf-8") as file:
                exported = file.read()
        served = gzip.decompress(self.start("sliding").ask("GET", "/")[1]).decode()
        for text in (exported, served):
            head = text[: text.index("<title>")]
            policy = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', head)[1]
            self.assertIn("default-src 'none';", policy)
            self.assertIn("connect-src 'self';", policy)
            self.assertRegex(text, r"Copyright © 2010-20\d\d three\.js authors")
            self.assertIn("Permission is hereby granted, free of charge", text)

    def test_several_files(self):
        with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
            file.write("""<mujoco><worldbody><body name="ball"><freejoint/><geom size="0.1"/></body>
                <body name="arm"><joint name="elbow"/><geom size="0.1"/></body></worldbody></mujoco>""")
            file.flush()
            server = self.start(file.name, file.name, "--prefix", "b_", "--at", "1,2,3", "--hold", "5,1")
            q = server.frames(1)[0]["q"]
            self.assertEqual((len(q), q[8:10]), (16, (1, 2)))

    def test_kinematic_bodies(self):
        with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
            file.write("""<mujoco><worldbody>
                <body pos="0 0 2"><freejoint/><geom size="0.1"/></body>
                <body name="hand" mocap="true" pos="1 -2 3" quat="0 1 0 0"><geom size="0.1"/></body>
                </worldbody></mujoco>""")
            file.flush()
            server = self.start(file.name)
            found = server.frames(1)[0]
            self.assertEqual(found["kinematic"], (1, -2, 3, 0, 1, 0, 0))
            self.assertEqual(len(found["q"]), 7)
            scene = gzip.decompress(server.ask("GET", "/scene.bin")[1])
            header = json.loads(scene[8 : 8 + struct.unpack_from("<I", scene, 4)[0]])
            self.assertEqual([b.get("kinematic") for b in header["scene"]["bodies"]], [None, True])

    def test_commands(self):
        server = self.start("quadruped")
        first = server.frames(3)
        self.assertLess(first[0]["time"], first[2]["time"])
        self.assertEqual(server.command(do="pause"), 200)
        still = server.frames(1)[0]
        while not still["paused"]:  # the test's time limit ends this, and the next
            still = server.frames(1)[0]
        self.assertEqual(server.command(do="step"), 200)
        moved = server.frames(1)[0]
        while moved["time"] == still["time"]:
            moved = server.frames(1)[0]
        self.assertAlmostEqual(moved["time"] - still["time"], 0.001, places=5)
        self.assertEqual(server.command(do="gravity", value=[0, 0, 5]), 200)
        self.assertEqual(server.command(do="friction", value=0.2), 200)
        self.assertEqual(server.command(do="dt", value=0.002), 200)
        self.assertEqual(server.command(do="solver", value="pgs"), 200)
        before = server.frames(1)[0]
        self.assertEqual(server.command(do="play"), 200)
        later = server.frame_at(before["time"] + 0.5)
        self.assertGreater(later["q"][2], before["q"][2] + 0.3)  # it falls upwards: g t^2 / 2 = 0.6
        self.assertEqual(server.command(do="reset", key=-1), 200)
        self.assertEqual(server.command(do="drop", shape="ball", size=0.1, point=[1, 1, 1]), 200)
        after = server.frames(1)[0]
        while after["model"] == 0:  # the test's time limit ends this
            after = server.frames(1)[0]
        self.assertEqual((after["model"], len(after["q"])), (1, len(still["q"]) + 7))

    def test_drag_changes_the_motion(self):
        server = self.start("sliding")
        server.command(do="pause")
        server.command(do="reset", key=-1)
        time.sleep(0.2)
        place = server.frames(1)[0]["q"][:3]
        target = [place[0], place[1] + 1, place[2] + 1]
        server.command(do="drag", body=1, point=[0, 0, 0], target=target)
        server.command(do="play")
        pulled = server.frame_at(2)["q"]
        server.command(do="release")
        self.assertGreater(pulled[1], place[1] + 0.5)
        self.assertGreater(pulled[2], place[2] + 0.5)

    def test_control_turns_a_joint(self):
        """A slider of the page: the control of the actuator, and its range in the scene."""
        with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
            file.write("""<mujoco><option gravity="0 0 0"/><worldbody><body><joint name="h" damping="1"/>
                <geom type="box" size="1 0.1 0.1" mass="1"/></body></worldbody><actuator>
                <motor name="t" joint="h" ctrlrange="-2 2" ctrllimited="true"/></actuator></mujoco>""")
            file.flush()
            server = self.start(file.name)
            self.assertEqual(server.frames(1)[0]["q"], (0,))
            self.assertEqual(server.command(do="control", index=0, value=1.5), 200)
            start = server.frames(1)[0]["time"]
            self.assertGreater(server.frame_at(start + 0.5)["q"][0], 0.1)
            self.assertEqual(server.command(do="control", index=1, value=1.5), 400)
            scene = gzip.decompress(server.ask("GET", "/scene.bin")[1])
            header = json.loads(scene[8 : 8 + struct.unpack_from("<I", scene, 4)[0]])
            self.assertEqual(header["scene"]["actuators"], [{"name": "t", "range": [-2, 2]}])

    def test_foreign_requests(self):
        server = self.start("sliding")
        own = f"http://localhost:{server.port}"
        pause = json.dumps({"do": "pause"})
        self.assertEqual(server.ask("POST", "/command", pause, {**JSON, "Origin": own})[0], 200)
        for origin in ("http://evil.example", "null", f"https://localhost:{server.port}",
                       own + ".evil.example"):
            self.assertEqual(server.ask("POST", "/command", pause, {**JSON, "Origin": origin})[0], 403)
        for host in ("evil.example", f"evil.example:{server.port}", "localhost.evil.example", ""):
            self.assertEqual(server.ask("GET", "/scene.bin", None, {"Host": host})[0], 403)
        self.assertEqual(server.ask("GET", "/", None, {"Host": f"[::1]:{server.port}"})[0], 200)
        for path in ("/etc/passwd", "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//", "/index.html",
                     "/picture", "/render", "/scene.bin/"):
            self.assertEqual(server.ask("GET", path)[0], 404)
        self.assertEqual(server.ask("DELETE", "/")[0], 405)

    def test_malformed_posts(self):
        server = self.start("sliding")
        for body in ("", "{", "[]", "null", '{"do":', '{"do":"pause"', '{"do":"pause"}x', '{"do":1}',
                     '{"do":"gravity","value":[1,2]}', '{"do":"gravity","value":[1,2,1e999]}',
                     '{"do":"dt"}', '{"do":"drag","body":1}', '{"do":"pose","index":-1,"value":1}',
                     '{"do":"pose","index":1.5,"value":1}', '{"a":' * 1000, "\0" * 50,
                     '{"do":"' + "x" * 1000 + '"}'):
            self.assertEqual(server.ask("POST", "/command", body, JSON)[0], 400, body[:40])
        self.assertEqual(server.ask("POST", "/command", '{"do":"pause"}', {})[0], 415)
        self.assertEqual(server.ask("POST", "/command", " " * 100000, JSON)[0], 413)
        # values that make no sense are refused as well, and the simulation goes on
        for fields in ({"do": "dt", "value": -1}, {"do": "dt", "value": 1}, {"do": "friction", "value": -3},
                       {"do": "friction", "value": 1e300}, {"do": "stiffness", "value": -1},
                       {"do": "speed", "value": 0}, {"do": "gravity", "value": [0, 0, 1e300]},
                       {"do": "drag", "body": 999, "point": [0, 0, 0], "target": [0, 0, 0]},
                       {"do": "drag", "body": 1, "point": [0, 0, 0], "target": [0, 1e300, 0]},
                       {"do": "reset", "key": 99}, {"do": "solver", "value": "magic"},
                       {"do": "drop", "shape": "cow", "size": 1, "point": [0, 0, 9]},
                       {"do": "drop", "shape": "ball", "size": 1e300, "point": [0, 0, 9]},
                       {"do": "drop", "shape": "ball", "size": 0, "point": [0, 0, 9]},
                       {"do": "drop", "shape": "box", "size": 1, "point": [0, 0, -1e300]},
                       {"do": "pose", "index": 999, "value": 1}, {"do": "control", "index": 999, "value": 1}, {"do": "pose", "index": 0, "value": 1e300}):
            self.assertEqual(server.command(**fields), 400, fields)
        before = server.frames(1)[0]
        self.assertEqual(server.command(do="drop", shape="ball", size=0.1, point=[0, 0, 9]), 200)
        after = server.frames(1)[0]
        while after["model"] == before["model"]:  # the test's time limit ends this
            after = server.frames(1)[0]
        self.assertEqual(len(after["q"]), len(before["q"]) + 7)
        server.command(do="play")
        a, b = server.frames(1)[0], server.frames(30)[-1]
        self.assertGreater(b["time"], a["time"])

    def test_huge_headers(self):
        server = self.start("sliding")
        try:
            status = server.ask("GET", "/", None, {"X-Large": "x" * 100000})[0]
            self.assertIn(status, (413, 431))
        except (ConnectionError, http.client.HTTPException):
            pass  # closed before the answer could be read
        self.assertEqual(server.ask("GET", "/")[0], 200)

    def test_many_and_lazy_clients(self):
        server = self.start("quadruped")
        lazy = []
        for _ in range(200):
            client = socket.create_connection(("localhost", server.port), timeout=30)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            lazy.append(client)  # never read
        halves = socket.create_connection(("localhost", server.port), timeout=30)
        halves.sendall(b"GET / HT")
        results = []
        threads = [threading.Thread(target=lambda: results.append(server.ask("GET", "/")[0]))
                   for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(results, [200] * 20)
        a, b = server.frames(1)[0], server.frames(20)[-1]
        self.assertGreater(b["time"], a["time"])
        for client in lazy + [halves]:
            client.close()
        self.assertEqual(server.command(do="pause"), 200)

    # Connections that send a header or a body byte after byte take every place, and lose it.
    def test_dripping_clients(self):
        server = self.start("sliding")
        stop = threading.Event()
        drops = []

        head = " HTTP/1.1\r\nHost: localhost\r\n"
        starts = (f"GET /{head}X: ", f"POST /command{head}Content-Type: application/json\r\nContent-Length: 9000\r\n\r\n")

        def drip():
            for i in range(256):
                drops.append(socket.create_connection(("localhost", server.port), timeout=30))
                drops[-1].sendall(starts[i % 2].encode())
            while not stop.wait(0.5):
                for client in drops:
                    try:
                        client.sendall(b"x")
                    except OSError:
                        pass  # it was closed

        thread = threading.Thread(target=drip)
        thread.start()
        while len(drops) < 256:
            time.sleep(0.1)
        try:
            self.assertEqual(server.ask("GET", "/")[0], 200)  # within the client's own 60 s
        finally:
            stop.set()
            thread.join()
            for client in drops:
                client.close()

    # A dropped body is another model: the recording goes on beside the first.
    def test_recording_goes_on(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, "run.h5")
        taken = os.path.join(folder.name, "run-2.h5")
        with open(taken, "w", encoding="utf-8") as file:
            file.write("kept")
        server = Server("simulate", "sliding", "--view", "--record", path)
        server.frame_at(0.1)
        for model in (1, 2):
            self.assertEqual(server.command(do="drop", shape="ball", size=0.1, point=[0, 0, 3]), 200)
            # Two frames: the second is new, so that connections do not come faster than frames.
            while server.frames(2)[1]["model"] < model:
                pass  # the test's time limit ends this
            server.frame_at(server.frames(1)[0]["time"] + 0.1)
        server.child.send_signal(signal.SIGINT)
        said = server.child.communicate(timeout=60)[1]
        self.assertEqual(server.child.returncode, 0)
        found = []
        for number in ("", "-3", "-4"):
            done = run("replay", os.path.join(folder.name, f"run{number}.h5"), "--json")
            self.assertEqual(done.returncode, 0, done)
            found.append(json.loads(done.stdout))
            self.assertEqual(f"goes on in {folder.name}/run{number}.h5" in said, number != "", said)
        self.assertEqual([f["nq"] - found[0]["nq"] for f in found], [0, 7, 14])
        for before, after in zip(found, found[1:]):
            self.assertTrue(before["complete"] and after["frames"] > 1)
            self.assertAlmostEqual(before["end"], after["begin"], places=9)
        with open(taken, encoding="utf-8") as file:
            self.assertEqual(file.read(), "kept")

    # The second recording has no room: it ends, by its own name, with all that was written; the simulation goes on.
    def test_no_room_for_what_goes_on(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, "run.h5")

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (2 << 20, 2 << 20))
        server = Server("simulate", "sliding", "--view", "--record", path, before=limit)
        server.frame_at(0.1)
        self.assertEqual(server.command(do="drop", shape="ball", size=0.1, point=[0, 0, 3]), 200)
        said = ""
        while "the recording ends here" not in said:
            line = server.child.stderr.readline()
            self.assertNotEqual(line, "", said)
            said += line
        a, b = server.frames(1)[0], server.frames(20)[-1]
        self.assertGreater(b["time"], a["time"])
        server.child.send_signal(signal.SIGINT)
        said += server.child.communicate(timeout=60)[1]
        self.assertEqual(server.child.returncode, 2)
        kept = re.search(r"(\S+): error: no room for more: File too large; the recording ends after (\d+) frames", said)
        self.assertTrue(kept, said)
        self.assertEqual(kept[1], os.path.join(folder.name, "run-2.h5"))
        self.assertNotIn("run.h5", said)
        for name, frames in (path, None), (kept[1], int(kept[2])):
            done = run("replay", name, "--json")
            self.assertEqual(done.returncode, 0, done)
            found = json.loads(done.stdout)
            self.assertTrue(found["complete"])
            self.assertIn(frames, (None, found["frames"]))

    def test_no_server_for_a_page(self):
        for option in ["--port", "8080"], ["--address", "127.0.0.1"]:
            done = run("view", "sliding", "--export", "/nowhere/page.html", *option)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn(f"{option[0]} is for a server", done.stderr)

    def test_port_in_use(self):
        server = self.start("sliding")
        done = run("view", "sliding", "--port", server.port)
        self.assertEqual(done.returncode, 2, done)
        self.assertIn(f"port {server.port}", done.stderr)
        done = run("view", "sliding", "--address", "nowhere")
        self.assertEqual(done.returncode, 2, done)
        self.assertIn("not an IPv4 address", done.stderr)

    def test_ends(self):
        server = Server("view", "sliding")
        self.assertEqual(server.end(), 0)
        done = run("simulate", "sliding", "--view", "--time", 0.05)
        self.assertEqual(done.returncode, 0, done)


class Recording(unittest.TestCase):
    def test_recording(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.h5")
            page = os.path.join(folder, "run.html")
            self.assertEqual(run("simulate", "quadruped", "--time", 0.3, "--record", path).returncode, 0)
            server = Server("view", path)
            status, scene = server.ask("GET", "/scene.bin")
            self.assertEqual(status, 200)
            scene = gzip.decompress(scene)
            header = json.loads(scene[8 : 8 + struct.unpack_from("<I", scene, 4)[0]])
            self.assertFalse(header["live"])
            self.assertEqual(header["frames"], 19)  # 60 per second, and both ends
            self.assertEqual(server.ask("GET", "/events")[0], 404)
            self.assertEqual(server.command(do="pause"), 409)
            self.assertEqual(server.end(), 0)
            server = Server("view", path, "--json")
            self.assertEqual(json.loads(server.told),
                             {"title": "quadruped", "address": f"http://localhost:{server.port}/"})
            self.assertEqual(server.end(), 0)
            done = run("view", path, "--export", page, "--json")
            self.assertEqual(done.returncode, 0, done)
            self.assertEqual(json.loads(done.stdout),
                             {"title": "quadruped", "page": page, "recorded_frames": 301})
            with open(page, encoding="utf-8") as file:
                text = file.read()
            data = re.search(r'<script id="rigor-data"[^>]*>([^<]*)</script>', text)[1]
            self.assertEqual(gzip.decompress(base64.b64decode(data)), scene)
            self.assertNotRegex(text, r'(src|href)="http')  # nothing from elsewhere
            done = run("view", path, "wall")
            self.assertEqual(done.returncode, 2, done)
            self.assertIn("a recording is shown alone", done.stderr)
            for text, words in {"pictures end in .png": ["a.jpg"],
                                "--camera needs 6 numbers": ["a.png", "--camera", "1,2"],
                                "--size is WIDTHxHEIGHT": ["a.png", "--size", "64x48x7"],
                                "did you mean 'forces'?": ["a.png", "--show", "grid,forcs"],
                                "the recording ends at": ["a.png", "--time", "1000"]}.items():
                done = run("render", path, *words)
                self.assertEqual(done.returncode, 2, done)
                self.assertIn(text, done.stderr)
            long = os.path.join(folder, "long.h5")
            run("simulate", "sliding", "--time", 101, "--dt", 0.01, "--record-every", 10100, "--record", long)
            done = run("render", long, os.path.join(folder, "many/"), "--fps", 1000)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn("101001 pictures, more than 100000", done.stderr)
            for encoder, words, text in ((None, ["a.mp4"], "films need ffmpeg"),
                                         ("/bin/true", ["a.gif", "--time", "1"], "--time is for one picture"),
                                         ("/nowhere", [os.path.join(folder, "a.gif"), "--size", "16x16"], "/nowhere: cannot be started"),
                                         (None, [path], "would replace an input file")):
                environment = {k: v for k, v in os.environ.items() if k != "RIGOR_FFMPEG"}
                environment.update({"PATH": folder} if encoder is None else {"RIGOR_FFMPEG": encoder})
                done = subprocess.run([RIGOR, "render", path, *words], capture_output=True, text=True,
                                      env=environment, timeout=300)
                self.assertEqual(done.returncode, 2, done)
                self.assertIn(text, done.stderr)
            done = run("view", path, "--export", "/nowhere/at/all.html")
            self.assertEqual(done.returncode, 2, done)
            self.assertIn("cannot be written", done.stderr)

    def test_pictures(self):
        """Pictures that come again do not stand for others, and what is none is refused: a browser of our own."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.h5")
            browser = os.path.join(folder, "browser")
            self.assertEqual(run("simulate", "sliding", "--time", 0.1, "--record", path).returncode, 0)
            with open(browser, "w", encoding="utf-8") as file:
                file.write("""#!/usr/bin/python3
import os, sys, time, urllib.request
for index, body in eval(os.environ["PICTURES"]):
    url = sys.argv[-1].split("#")[0] + f"picture?index={index}"
    urllib.request.urlopen(urllib.request.Request(url, body, method="POST"), timeout=30).read()
time.sleep(30)
""")
            os.chmod(browser, 0o755)
            png = b"\x89PNG\r\n\x1a\n"
            for name, posts, code in (("a.png", [(0, b"")], 2), ("b.png", [(0, b"<html>")], 2), ("c.png", [(0, png + b"c")], 0),
                                      ("d/", [(0, png + b"0"), (0, png + b"x"), (0, png + b"x"), (2, png + b"2"),
                                              (1, png + b"1")], 0)):
                out = os.path.join(folder, name)
                environment = {**os.environ, "RIGOR_BROWSER": browser, "PICTURES": repr(posts)}
                done = subprocess.run([RIGOR, "render", path, out, "--fps", "20"], capture_output=True, text=True,
                                      env=environment, timeout=300)
                self.assertEqual(done.returncode, code, done)
                if code == 2:
                    self.assertIn("the browser made no picture", done.stderr)
                    self.assertFalse(os.path.exists(out))
            for index in range(3):
                with open(os.path.join(folder, "d", f"frame_{index:05}.png"), "rb") as file:
                    self.assertEqual(file.read(), png + b"%d" % index)
            self.assertEqual(len(os.listdir(os.path.join(folder, "d"))), 3)

    def test_marks(self):
        """Frames that were not solved are marked as such in the page, as many as the recording has."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.h5")
            page = os.path.join(folder, "run.html")
            run("simulate", "pile", "--bodies", 20, "--dt", 0.02, "--time", 1, "--max-iter", 1, "--tol", 1e-13,
                "--record", path)
            unsolved = int(re.search(r"; (\d+) frames not solved", run("replay", path).stdout)[1])
            self.assertEqual(run("view", path, "--export", page).returncode, 0)
            with open(page, encoding="utf-8") as file:
                data = re.search(r'<script id="rigor-data"[^>]*>([^<]*)</script>', file.read())[1]
            scene = gzip.decompress(base64.b64decode(data))
            length = 8 + struct.unpack_from("<I", scene, 4)[0]
            kind, offset, count = json.loads(scene[8:length])["arrays"]["flags"]
            start = -(-length // 8) * 8 + offset
            self.assertEqual((kind, count), ("u8", 51))
            self.assertEqual(sum(flag & 1 for flag in scene[start : start + count]), unsolved)
            self.assertGreater(unsolved, 5)


if __name__ == "__main__":
    if not has_viewer():
        print("skipped: built without the viewer")
        sys.exit(77)
    unittest.main()
