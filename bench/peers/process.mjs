// Engines in WebAssembly for wasm.c, as process.h says: process.mjs ENGINE SCENE.json VARIANT. An engine is a module
// beside this one with a class World(scene, variant): reset(), step(), contacts() -> [count, deepest], masses(),
// links() -> 13 numbers each (position, quaternion, linear and angular velocity).
import { readFileSync, readSync, writeSync } from "node:fs";

export const add = (a, b) => a.map((x, i) => x + b[i]);
export const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
export const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
export const scale = (s, a) => a.map((x) => s * x);
export const unit = (a) => scale(1 / Math.sqrt(dot(a, a)), a);

/** Quaternions are w, x, y, z; poses are position and quaternion, seven numbers. */
export function times(a, b) {
  const [u, v] = [a.slice(1), b.slice(1)];
  return [a[0] * b[0] - dot(u, v), ...add(add(scale(a[0], v), scale(b[0], u)), cross(u, v))];
}
export const rotate = (q, v) => times(times(q, [0, ...v]), [q[0], -q[1], -q[2], -q[3]]).slice(1);
export const turn = (pose) => unit(pose.slice(3));
export const compose = (a, b) => [...add(a.slice(0, 3), rotate(turn(a), b.slice(0, 3))), ...times(turn(a), turn(b))];
export function about(axis, angle) {
  return [Math.cos(angle / 2), ...scale(Math.sin(angle / 2), axis)];
}
/** The shortest turn that takes one direction to another. */
export function between(a, b) {
  const w = 1 + dot(a, b);
  if (w > 1e-9) {
    return unit([w, ...cross(a, b)]);
  }
  const side = Math.abs(a[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0];
  return [0, ...unit(cross(a, side))];
}

/** Poses and velocities of the links at the start, and "stages": those after each of a link's joints. Links without a
 * parent are in the world. */
export function placeLinks(scene) {
  const placed = [];
  for (const link of scene.links) {
    const parent = link.parent >= 0 ? placed[link.parent] : { pose: [0, 0, 0, 1, 0, 0, 0], linear: [0, 0, 0], angular: [0, 0, 0] };
    let pose = compose(parent.pose, link.pose);
    let angular = parent.angular;
    let linear = add(parent.linear, cross(parent.angular, add(pose.slice(0, 3), scale(-1, parent.pose.slice(0, 3)))));
    const stages = [];
    for (const joint of link.joints) {
      if (joint.kind === "free") {
        [pose, linear, angular] = [joint.pose, joint.linear, joint.angular];
        continue;
      }
      if (joint.kind !== "revolute" && joint.kind !== "prismatic" && joint.kind !== "ball") {
        throw new Error("it has no such joint");
      }
      const anchor = [...joint.anchor, 1, 0, 0, 0];
      const back = [...scale(-1, joint.anchor), 1, 0, 0, 0];
      const inner = joint.kind === "revolute" ? [0, 0, 0, ...about(joint.axis, joint.q)]
        : joint.kind === "ball" ? [0, 0, 0, ...joint.turn] : [...scale(joint.q, joint.axis), 1, 0, 0, 0];
      const before = pose;
      pose = compose(compose(compose(pose, anchor), inner), back);
      const at = compose(pose, anchor).slice(0, 3);
      const speed = joint.kind === "revolute" ? rotate(turn(before), scale(joint.v, joint.axis))
        : joint.kind === "ball" ? rotate(turn(pose), joint.angular) : [0, 0, 0];
      const slide = joint.kind === "prismatic" ? rotate(turn(before), scale(joint.v, joint.axis)) : [0, 0, 0];
      // the velocity of the new origin: that of the body before it, carried there, and the joint's own
      linear = add(add(linear, cross(angular, add(pose.slice(0, 3), scale(-1, before.slice(0, 3))))), slide);
      linear = add(linear, cross(speed, add(pose.slice(0, 3), scale(-1, at))));
      angular = add(angular, speed);
      stages.push({ pose, linear, angular });
    }
    placed.push({ pose, linear, angular, stages });
  }
  return placed;
}

function read(count) {
  const bytes = Buffer.alloc(count);
  for (let got = 0; got < count; ) {
    let more = 0;
    try {
      more = readSync(0, bytes, got, count - got, null);
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
      continue;
    }
    if (more === 0) return null;
    got += more;
  }
  return bytes;
}

function write(bytes) {
  for (let sent = 0; sent < bytes.length; ) {
    try {
      sent += writeSync(1, bytes, sent);
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
    }
  }
}

async function main() {
  const [engine, file, variant] = process.argv.slice(2);
  for (const name of ["log", "warn", "info", "error"]) {
    console[name] = () => {}; // what the library prints is no answer
  }
  let world;
  try {
    const module = await import(`./${engine}.mjs`);
    world = await module.makeWorld(JSON.parse(readFileSync(file, "utf8")), variant);
  } catch (error) {
    write(Buffer.from(`fault ${String(error.message ?? error).split("\n")[0]}\n`));
    process.exit(0);
  }
  write(Buffer.from(["ok", ...world.masses()].join("\n") + "\n"));
  let seconds = 0, failed = 0;
  for (let command = read(1); command !== null; command = read(1)) {
    const word = command.toString();
    if (word === "r") {
      world.reset();
      [seconds, failed] = [0, 0];
    } else if (word === "s") {
      const count = read(4).readInt32LE(0);
      const begin = process.cpuUsage();
      try {
        for (let i = 0; i < count; ++i) world.step();
      } catch {
        failed = 1;
      }
      const used = process.cpuUsage(begin);
      seconds += 1e-6 * (used.user + used.system);
    } else {
      const numbers = [failed, seconds, ...world.contacts(), ...world.links().flat()];
      numbers[0] = numbers.every(Number.isFinite) ? failed : 1;
      write(Buffer.from(Float64Array.from(numbers).buffer));
    }
  }
  process.exit(0);
}

if (process.argv[1]?.endsWith("process.mjs")) {
  main();
}
