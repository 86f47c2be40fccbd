// The viewer in a real browser: node run.mjs RIGOR. Chromium with WebGL2 in software; pictures go to
// the folder RIGOR_SHOTS when it is set. Ends with 77 where there is no Chromium or no viewer.
import { spawn, execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const rigor = process.argv[2];
const browserPath = process.env.RIGOR_BROWSER ?? '/usr/bin/chromium';
const require = createRequire(new URL('../../web/package.json', import.meta.url));
let chromium;
try {
  ({ chromium } = require('playwright-core'));
} catch {
  console.log('skipped: playwright-core is not installed');
  process.exit(77);
}
if (!existsSync(browserPath)) {
  console.log('skipped: no Chromium');
  process.exit(77);
}

const folder = mkdtempSync(join(tmpdir(), 'rigor-browser-'));
const flags = ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run'];
const browser = await chromium.launch({ executablePath: browserPath, args: flags });
let failures = 0;
let faults = [];

function expect(what, condition, detail = '') {
  console.log(`${condition ? 'ok  ' : 'FAIL'} ${what} ${condition ? '' : JSON.stringify(detail)}`);
  if (!condition) failures += 1;
}

async function open(url, size = { width: 640, height: 360 }) {
  const page = await browser.newPage({ viewport: size, bypassCSP: true });
  page.setDefaultTimeout(90000);
  page.on('console', (m) => { if (m.type() === 'error') faults.push(m.text()); });
  page.on('pageerror', (e) => faults.push(e.message));
  await page.goto(url);
  await page.waitForFunction(() => window.rigor && window.rigor.frames > 0, null, { polling: 100 });
  return page;
}

const state = (page) => page.evaluate(() => window.rigor.state());

// Whether the canvas shows more than one color.
const colors = (page) => page.evaluate(() => {
  const canvas = document.querySelector('.view canvas');
  const copy = document.createElement('canvas');
  copy.width = 64;
  copy.height = 36;
  const g = copy.getContext('2d');
  g.drawImage(canvas, 0, 0, 64, 36);
  const seen = new Set();
  const data = g.getImageData(0, 0, 64, 36).data;
  for (let i = 0; i < data.length; i += 4) seen.add((data[i] >> 4) * 256 + (data[i + 1] >> 4) * 16 + (data[i + 2] >> 4));
  return seen.size;
});

async function shot(page, name) {
  if (process.env.RIGOR_SHOTS) await page.screenshot({ path: join(process.env.RIGOR_SHOTS, name), timeout: 90000 });
}

function serve(...args) {
  return new Promise((done, fail) => {
    const child = spawn(rigor, ['view', ...args]);
    child.stdout.on('data', (data) => {
      const found = /http:\/\/localhost:\d+\//.exec(String(data));
      if (found) done({ url: found[0], end: () => child.kill('SIGINT') });
    });
    child.on('exit', () => fail(new Error('rigor view ended')));
    child.on('error', fail);
  });
}

// ---- an exported page, from a file ----

const wall = join(folder, 'wall.html');
try {
  execFileSync(rigor, ['view', 'wall', '--time', '2.3', '--export', wall], { stdio: 'pipe' });
} catch (error) {
  const text = String(error.stderr);
  console.log(text);
  process.exit(/without/.test(text) ? 77 : 1);
}
let page = await open(`file://${wall}#t=1&quality=low`);
let s = await state(page);
expect('shows the time of the link', Math.abs(s.time - 1) < 1e-6, s.time);
expect('draws the wall', s.shapes === 16 && (await colors(page)) > 6, s.shapes);
// The wall is hyperstatic: a few contacts may have no force, hence no arrow.
expect('arrows of the contacts of the standing wall', s.arrows > 90 && s.arrows <= 100 && s.stick === 100, s);
await shot(page, 'wall.png');
await page.click('#play');
await page.waitForFunction((t) => window.rigor.state().time !== t, s.time, { polling: 50 });
expect('plays', true);
await page.keyboard.press('Space');
const paused = (await state(page)).time;
await page.waitForTimeout(300);
expect('pauses', (await state(page)).time === paused, paused);
const box = await page.locator('#track').boundingBox();
await page.mouse.click(box.x + 0.5 * box.width, box.y + 0.5 * box.height);
s = await state(page);
expect('scrubs to the middle', Math.abs(s.time - 1.15) < 0.05, s.time);
await page.keyboard.press('ArrowRight');
expect('steps one frame', (await state(page)).index === s.index + 1, (await state(page)).index);
await page.evaluate(() => { document.querySelector('#tree').hidden = document.querySelector('#side').hidden = false; });
await page.click('.node:has-text("cube_3")');
await page.waitForFunction(() => document.querySelector('#selected')?.textContent === 'cube_3', null, { polling: 50 });
const inspector = await page.textContent('#inspector');
expect('the inspector tells about the selected body', /Mass/.test(inspector) && /contact/.test(inspector), inspector);
await page.fill('.search', 'ball');
expect('the search finds one body', (await page.locator('.tree .node').count()) === 1);
await page.evaluate(() => window.rigor.setShow('network', true));
await page.waitForFunction(() => window.rigor.state().lines > 0, null, { polling: 50 });
expect('the force network is drawn', true);
await page.evaluate(() => { window.rigor.setShow('trails', true); window.rigor.setShow('labels', true); });
await page.waitForFunction(() => window.rigor.state().labels > 3, null, { polling: 50 });
expect('labels and trails are drawn', (await state(page)).segments > 5 || s.time < 2, await state(page));
const spot = await page.evaluate(() => {
  window.rigor.setShow('labels', false);
  const v = window.rigor.focus().project(window.rigor.stage.camera);
  return [0.5 * (v.x + 1) * innerWidth, 0.5 * (1 - v.y) * innerHeight];
});
await page.mouse.move(spot[0], spot[1]);
await page.waitForFunction(() => !document.querySelector('.tip').hidden, null, { polling: 50 });
expect('a body tells its name and values at the pointer', /cube_\d+.*(Point|Force)/.test(await page.textContent('.tip')), await page.textContent('.tip'));
const link = await page.evaluate(() => window.rigor.link());
expect('links carry time and camera', /t=[\d.]+&eye=/.test(link), link);
await page.evaluate(() => window.rigor.toggleCharts());
expect('charts open', (await page.locator('.chart').count()) >= 2);
const plot = await page.locator('.chart .plot').first().boundingBox();
await page.mouse.move(plot.x + 0.6 * plot.width, plot.y + 0.5 * plot.height);
await page.mouse.wheel(0, -600);
await page.waitForFunction(() => window.rigor.charts[0].span.range !== null, null, { polling: 50 });
const zoomed = await page.evaluate(() => window.rigor.charts[0].span.range);
expect('the wheel zooms all charts', zoomed[1] - zoomed[0] < 1.2 && zoomed[0] > 0.5, zoomed);
const csv = await page.evaluate(() => window.rigor.charts[0].csv().split('\n'));
expect('charts give their numbers', csv[0] === 'time,total,kinetic,potential' && csv.length === s.count + 2, csv.slice(0, 2));
const [saved] = await Promise.all([page.waitForEvent('download'), page.locator('.chart header .icon').first().click()]);
expect('charts are saved', saved.suggestedFilename() === 'Energy.csv', saved.suggestedFilename());
await page.evaluate(() => window.rigor.setTheme('dark'));
await page.waitForTimeout(500);
await shot(page, 'wall-dark.png');
await page.close();

// ---- a second recording, see-through; one that is dropped onto the page ----

const slide = join(folder, 'slide.h5');
const faster = join(folder, 'faster.h5');
execFileSync(rigor, ['simulate', 'sliding', '--time', '0.5', '--record', slide], { stdio: 'pipe' });
execFileSync(rigor, ['simulate', 'sliding', '--time', '0.5', '--mu', '0.1', '--record', faster], { stdio: 'pipe' });
const both = join(folder, 'both.html');
execFileSync(rigor, ['view', slide, '--ghost', faster, '--export', both], { stdio: 'pipe' });
page = await open(`file://${both}#t=0.5&quality=low`);
const places = await page.evaluate(() => [window.rigor.state().position(1)[0], window.rigor.ghost.poses[7]]);
expect('the ghost is where the second recording has it', places[1] > places[0] + 0.01, places);
await page.evaluate(() => window.rigor.setGhost(null));
const dropped = readFileSync(both, 'utf8');
await page.evaluate(async (text) => window.rigor.open('both.html', new Blob([text])), dropped);
expect('a page that is dropped becomes a ghost', (await state(page)).ghost);
await page.evaluate(async () => window.rigor.open('notes.txt', new Blob(['nothing'])));
expect('other files are refused', /notes.txt is not/.test(await page.textContent('.toast')), await page.textContent('.toast'));
await page.close();

// ---- a phone held sideways ----

page = await open(`file://${wall}#t=2.2&quality=low`, { width: 667, height: 375 });
const transport = await page.locator('.transport').boundingBox();
expect('fits a phone', transport.x >= 0 && transport.x + transport.width <= 667 && transport.y + transport.height <= 375, transport);
expect('panels are closed on a phone', await page.locator('#side').isHidden());
await page.close();

// ---- a running simulation ----

const live = await serve('sliding');
page = await open(`${live.url}#quality=low`);
await page.waitForFunction(() => window.rigor.state().count > 3, null, { polling: 100 });
s = await state(page);
expect('frames come', s.live && s.count > 3, s);
const send = (command) => page.evaluate(async (c) => (await fetch('command', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(c) })).status, command);
expect('commands are taken', (await send({ do: 'reset', key: -1 })) === 200);
const height = await page.evaluate(() => window.rigor.state().position(1)[2]);
await send({ do: 'drag', body: 1, point: [0, 0, 0], target: [0, 0, height + 1] });
await page.waitForFunction((h) => window.rigor.state().position(1)[2] > h + 0.2, height, { polling: 100 });
expect('a pull changes the motion', true);
await send({ do: 'release' });
await send({ do: 'reset', key: -1 });
await send({ do: 'wrench', body: 1, point: [0, 0, 0], target: [0, 0, 50] });
await page.waitForFunction(() => Math.abs(window.rigor.frame.q[6]) > 0.02, null, { polling: 100 });
expect('a torque turns the body', true);
await send({ do: 'release' });
await send({ do: 'drop', shape: 'box', size: 0.1, point: [0, 1, 1] });
await page.waitForFunction((n) => window.rigor.state().shapes === n + 1, s.shapes, { polling: 100 });
expect('a dropped box appears', true);
await shot(page, 'live.png');
await page.close();
live.end();

// A slider per actuator turns the joint that it drives.
const robot = join(folder, 'robot.xml');
writeFileSync(robot, '<mujoco><option gravity="0 0 0"/><worldbody><camera name="side" pos="0 -3 0" xyaxes="1 0 0 0 0 1" fovy="50"/><body name="rod"><joint name="hinge" axis="0 1 0" damping="1"/><geom type="capsule" fromto="0 0 0 1 0 0" size="0.1" mass="1"/></body></worldbody><actuator><motor name="torque" joint="hinge" ctrlrange="-2 2" ctrllimited="true"/></actuator></mujoco>');
const driven = await serve(robot);
page = await open(`${driven.url}#quality=low`, { width: 1000, height: 700 });
await page.waitForFunction(() => window.rigor.state().count > 3, null, { polling: 100 });
const range = await page.evaluate(() => { const e = document.querySelector('input[aria-label="control of torque"]'); e.value = '1.5'; e.dispatchEvent(new Event('input')); return [e.min, e.max]; });
expect('the slider has the range of the actuator', range[0] === '-2' && range[1] === '2', range);
await page.waitForFunction(() => Math.abs(window.rigor.frame.q[0]) > 0.2, null, { polling: 100 });
expect('a control turns the joint', true);
await page.evaluate(() => window.rigor.applyLink('#camera=side'));
await page.waitForFunction(() => Math.abs(window.rigor.stage.camera.fov - 50) < 1e-4, null, { polling: 50 });
expect('the camera of the model is looked through', (await page.evaluate(() => window.rigor.stage.camera.position.toArray())).join() === '0,-3,0');
await shot(page, 'controls.png');
await page.close();
driven.end();

// A film: frames as pictures, then the encoder, which is one of ours that counts them.
const encoder = join(folder, 'encoder');
writeFileSync(encoder, '#!/bin/sh\nfrom=$7\nfor out; do :; done\nls "$(dirname "$from")" > "${out#file:}"\n', { mode: 0o755 });
const motion = join(folder, 'motion.h5');
const film = join(folder, 'motion.mp4');
execFileSync(rigor, ['simulate', 'sliding', '--time', '0.2', '--record', motion], { stdio: 'pipe' });
execFileSync(rigor, ['render', motion, film, '--fps', '20', '--size', '64x48'], { stdio: 'pipe', env: { ...process.env, RIGOR_FFMPEG: encoder } });
const frames = readFileSync(film, 'utf8').trim().split('\n');
expect('a film is made of its frames', frames.length === 5 && frames[4] === 'frame_00004.png', frames);

expect('no errors in the console', faults.length === 0, faults);
await browser.close();
rmSync(folder, { recursive: true });
console.log(failures === 0 ? 'all passed' : `${failures} failed`);
process.exit(failures === 0 ? 0 : 1);
