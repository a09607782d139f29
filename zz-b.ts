import { startProcess } from './test/support/start-test-redis.ts';
import { makeRedisConnection } from './src/redis/connection.ts';
import { makeRedisApiBudget } from './src/redis/redis-api-budget.ts';
const r = await startProcess(process.argv[2] as never);
async function run(R: number, dispatchers: number, secs: number, latency: number, hog = 0) {
  const conns = Array.from({length: dispatchers}, () => makeRedisConnection({url: r.url, keyPrefix: 'b'+Math.random()+''}, 'worker'));
  const prefix = 'b'+Math.random();
  const budgets = conns.map(c => makeRedisApiBudget({ commands: c.commands, keyPrefix: prefix, accessId: 'x', requestsPerSecond: R, concurrentRequests: 10 }));
  const at: number[] = [];
  const end = performance.now()+secs*1000;
  const cpu0 = process.cpuUsage();
  const hogTimer = hog ? setInterval(()=>{ const t=performance.now(); while(performance.now()-t<hog); }, 100): undefined;
  await Promise.all(budgets.flatMap(b => Array.from({length: 16}, async () => {
    while (performance.now() < end) { const g = await b.take('look'); at.push(performance.now()); await new Promise(s=>setTimeout(s, latency)); g.giveBack(); }
  })));
  clearInterval(hogTimer);
  const cpu = process.cpuUsage(cpu0);
  at.sort((a,b)=>a-b);
  let most=0; for (let i=0,j=0;j<at.length;j++){ while(at[j]!-at[i]!>=1000) i++; most=Math.max(most,j-i+1);}
  const span=(at.at(-1)!-at[0]!)/1000;
  console.log({R, dispatchers, latency, hog, n: at.length, used: ((at.length-1)/span/R*100).toFixed(1)+'%', most, cpu: ((cpu.user+cpu.system)/1e4/secs).toFixed(0)+'%'});
  await Promise.all(budgets.map(b=>b.close())); await Promise.all(conns.map(c=>c.close()));
}
await run(400,1,4,2); await run(400,3,4,2); await run(400,3,4,2,8); await run(400,1,4,2,30); await run(40,3,4,10); await run(4,1,6,100); await run(4,3,6,100);
await r.close();
