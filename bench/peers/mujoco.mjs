// MuJoCo in WebAssembly for mujoco_wasm.c: node mujoco.mjs FILE STEP VARIANT. Writes a line "ok nq nv nbody
// version" or "fault ...", and the mass and name of each body; then reads commands: 'r' with nq + nv numbers,
// back to that state; 's' with a count, so many steps; 'q', answered with numbers: whether a step failed, CPU
// seconds in steps since the reset, contacts, the deepest of them, and of each body place, turn, and velocity at
// its origin.
import { readFileSync, readdirSync, readSync, writeSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const [file, step, variant] = process.argv.slice(2);
const path = resolve(file);

const loadEngine = async () => {
    const { default: load } = await import('@mujoco/mujoco');
    return load({ print: () => {}, printErr: () => {} });
};

// Its files are in memory: the model's folder, with meshes.
const copyFolder = (engine, folder) => {
    engine.FS.mkdirTree(folder);
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
        const inside = join(folder, entry.name);
        if (entry.isDirectory()) {
            copyFolder(engine, inside);
        } else if (entry.isFile()) {
            engine.FS.writeFile(inside, readFileSync(inside));
        }
    }
};

const readAll = (bytes) => {
    for (let got = 0; got < bytes.length;) {
        const more = readSync(0, bytes, got, bytes.length - got);
        if (more === 0) {
            process.exit(0);
        }
        got += more;
    }
    return bytes;
};

const writeAll = (bytes) => {
    for (let sent = 0; sent < bytes.length;) {
        sent += writeSync(1, bytes, sent, bytes.length - sent);
    }
};

const setOptions = (engine, model) => {
    model.opt.timestep = Number(step);
    model.opt.cone = variant.startsWith('pyramidal')
        ? engine.mjtCone.mjCONE_PYRAMIDAL.value : engine.mjtCone.mjCONE_ELLIPTIC.value;
    if (variant.includes('near-rigid')) {
        model.opt.enableflags |= engine.mjtEnableBit.mjENBL_OVERRIDE.value;
        model.opt.o_solref.set([2 * Number(step), 1]);
        model.opt.o_solimp.set([0.99, 0.9999, 0.001, 0.5, 2]);
    }
};

const nameOf = (model, body) => {
    const names = model.names;
    const bytes = [];
    for (let i = model.name_bodyadr[body]; names[i] !== 0; ++i) {
        bytes.push(names[i]);
    }
    return Buffer.from(bytes).toString('utf8');
};

const deepest = (data) => {
    let depth = 0;
    const contacts = data.contact;
    for (let i = 0; i < data.ncon; ++i) {
        const contact = contacts.get(i);
        depth = Math.max(depth, -contact.dist);
        contact.delete();
    }
    contacts.delete();
    return depth;
};

const describe = (engine, model, data, seconds) => {
    const out = new Float64Array(4 + 13 * model.nbody);
    const contacts = data.ncon, depth = deepest(data);
    engine.mj_kinematics(model, data);
    engine.mj_comPos(model, data);
    engine.mj_comVel(model, data);
    out.set([data.qpos.every(Number.isFinite) ? 0 : 1, seconds, contacts, depth]);
    const { xpos, xquat, cvel, subtree_com: centres } = data;
    const roots = model.body_rootid;
    for (let b = 0; b < model.nbody; ++b) {
        const at = 4 + 13 * b;
        const arm = [0, 1, 2].map((i) => xpos[3 * b + i] - centres[3 * roots[b] + i]);
        const [wx, wy, wz, vx, vy, vz] = cvel.subarray(6 * b, 6 * b + 6);
        out.set(xpos.subarray(3 * b, 3 * b + 3), at);
        out.set(xquat.subarray(4 * b, 4 * b + 4), at + 3);
        out.set([vx + wy * arm[2] - wz * arm[1], vy + wz * arm[0] - wx * arm[2],
            vz + wx * arm[1] - wy * arm[0], wx, wy, wz], at + 7);
    }
    return Buffer.from(out.buffer);
};

const serve = (engine, model, data) => {
    const command = Buffer.alloc(1);
    let microseconds = 0;
    for (;;) {
        readAll(command);
        const kind = String.fromCharCode(command[0]);
        if (kind === 'r') {
            const state = new Float64Array(model.nq + model.nv);
            readAll(new Uint8Array(state.buffer));
            engine.mj_resetData(model, data);
            data.qpos.set(state.subarray(0, model.nq));
            data.qvel.set(state.subarray(model.nq));
            microseconds = 0;
        } else if (kind === 's') {
            const count = Buffer.alloc(4);
            readAll(count);
            const begin = process.cpuUsage();
            for (let i = count.readInt32LE(); i > 0; --i) {
                engine.mj_step(model, data);
            }
            const used = process.cpuUsage(begin);
            microseconds += used.user + used.system;
        } else {
            writeAll(describe(engine, model, data, 1e-6 * microseconds));
        }
    }
};

try {
    const engine = await loadEngine();
    copyFolder(engine, dirname(path));
    const model = engine.MjModel.mj_loadXML(path);
    const data = new engine.MjData(model);
    setOptions(engine, model);
    const bodies = Array.from({ length: model.nbody }, (_, b) => `${model.body_mass[b]} ${nameOf(model, b)}\n`);
    writeAll(Buffer.from(`ok ${model.nq} ${model.nv} ${model.nbody} ${engine.mj_versionString()}\n${bodies.join('')}`));
    serve(engine, model, data);
} catch (error) {
    writeAll(Buffer.from(`fault ${String(error.message ?? error).split('\n')[0]}\n`));
}
