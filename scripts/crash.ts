/**
 * The long form of the crash test: kills the real program at random moments of 10 000-recipient sends, and senders at each
 * named step, until the numbers are reached; ends with 1 when the promise was broken once.
 *
 *   npm run test:crash -- [kills at random] [kills at each step]
 */
import { type Reckoning, Send, STEPS } from '../test/crash/rig.ts';

const [kills = 50, each = 5] = process.argv.slice(2).map(Number);
const ends: (() => Promise<void>)[] = [];
const t = { teardown: (end: () => Promise<void>) => void ends.push(end) };
let broken = 0;

async function tell(what: string, { problems, duplicates, bound }: Reckoning): Promise<void> {
  console.log(`${what}: ${problems.join('; ') || 'none missing'}; ${duplicates} duplicates, at most ${bound}`);
  if (problems.length > 0) broken++;
  for (const end of ends.splice(0)) await end();
}

for (let landed = 0; landed < kills; ) {
  const send = await Send.prepare(t, 10_000, 2000);
  const before = landed;
  while (landed < kills && (await send.killAfter(Math.random() * 500))) landed++;
  await tell(`${landed - before} random kills, 10 000 recipients`, await send.finish());
}
for (const step of STEPS) {
  const send = await Send.prepare(t, 3000, 2000);
  for (let kill = 0; kill < each; kill++) await send.killAt(step, 1 + Math.floor(Math.random() * 4));
  await tell(`${each} kills ${step}`, await send.finish());
}
const send = await Send.prepare(t, 1000, 2000);
await send.killAt('after the claim', 1);
const without = await send.finishWithoutRecovery();
console.log(`Without recovery it is noticed: ${without.problems.join('; ')}`);
if (without.problems.length === 0) broken++;
for (const end of ends) await end();
process.exitCode = broken > 0 ? 1 : 0;
