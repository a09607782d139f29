import type { Random } from '../scenario/random.ts';

export interface OperatingSystem {
  readonly family: 'linux' | 'windows' | 'mac';
  readonly name: string;
  readonly version: string;
  readonly arch: string;
}

/** Draws an operating system by the shares. Linux has the rest (field-facts.md, A realistic fleet). */
export function drawOperatingSystem(
  random: Random,
  shares: { readonly windows: number; readonly mac: number; readonly oldOs: number },
): OperatingSystem {
  const draw = random.next();
  if (draw < shares.windows) return windows(random);
  if (draw < shares.windows + shares.mac) return mac(random);
  if (draw < shares.windows + shares.mac + shares.oldOs) return old(random);
  return {
    family: 'linux',
    name: 'Linux',
    version: random.pick(['5.15.0-1031-aws', '6.1.0-18-amd64', '4.18.0-513.el8.x86_64', '5.10.192-183.736']),
    arch: random.chance(0.9) ? 'amd64' : 'aarch64',
  };
}

function windows(random: Random): OperatingSystem {
  const [year, version] = random.pick<readonly [string, string]>([
    ['2012 R2', '6.3'],
    ['2016', '10.0'],
    ['2019', '10.0'],
    ['2022', '10.0'],
  ]);
  return {
    family: 'windows',
    name: `Windows Server ${year}`,
    version,
    arch: random.chance(0.02) ? 'x86' : 'amd64',
  };
}

function mac(random: Random): OperatingSystem {
  return {
    family: 'mac',
    name: 'Mac OS X',
    version: random.pick(['12.7', '13.6', '14.4']),
    arch: random.pick(['x86_64', 'aarch64']),
  };
}

function old(random: Random): OperatingSystem {
  return random.chance(0.5)
    ? { family: 'windows', name: 'Windows Server 2008 R2', version: '6.1', arch: 'amd64' }
    : { family: 'linux', name: 'Linux', version: '2.6.32-754.el6.x86_64', arch: 'amd64' };
}
