// Judges a played case by its cell of the table.

/** Faults of the table itself: missing cells, and cells of unknown peers, ways and cases. */
export function faultsOfTable(table, peers, casesOf) {
  const faults = [];
  for (const peer of peers) {
    for (const way of peer.ways) {
      for (const name of Object.keys(casesOf(way))) {
        const fault = faultOfCell(table[peer.name]?.[way]?.[name]);
        if (fault !== undefined) faults.push(`${peer.name}, ${way}, ${name}: ${fault}`);
      }
    }
  }
  for (const [name, ways] of Object.entries(table)) {
    const peer = peers.find((one) => one.name === name);
    if (peer === undefined) faults.push(`The table has a peer that there is not: ${name}`);
    for (const [way, cells] of Object.entries(ways)) {
      if (peer !== undefined && !peer.ways.includes(way)) faults.push(`${name} has no way ${way}`);
      for (const key of Object.keys(cells)) {
        if (!(key in casesOf(way))) faults.push(`${name}, ${way}: there is no case ${key}`);
      }
    }
  }
  return faults;
}

function faultOfCell(cell) {
  if (cell === undefined) return 'the table has no cell';
  if (cell === 'right') return undefined;
  if (typeof cell.none === 'string') return undefined;
  const known = ['framework', 'protocol'].includes(cell.fault) && typeof cell.why === 'string' && cell.shows;
  return known && Object.keys(cell.shows).length > 0 ? undefined : 'the cell is neither right, nor a fault, nor none';
}

/** Why a reading does not fit its cell, or undefined. */
export function misfit(cell, reading) {
  const wanted = cell === 'right' ? {} : cell.shows;
  const [one, other] = [wanted, reading].map((members) => JSON.stringify(Object.entries(members).sort()));
  if (one === other) return undefined;
  return `expected ${said(wanted)}, got ${said(reading)}`;
}

function said(reading) {
  return Object.keys(reading).length === 0 ? 'right' : JSON.stringify(reading);
}
