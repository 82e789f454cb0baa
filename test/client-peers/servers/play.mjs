// The agent of every peer. The first word of a message selects its behaviour.
const gates = new Map();

function gateOf(name) {
  if (!gates.has(name)) gates.set(name, Promise.withResolvers());
  return gates.get(name);
}

/** Plays one message on the stage of an SDK. */
export async function play(stage, canceled) {
  if (stage.isFollowUp) {
    stage.resume();
    stage.status('WORKING');
    stage.artifact(stage.text, { last: true });
    return stage.status('COMPLETED', 'Thank you');
  }
  const [command, ...words] = stage.text.split(' ');
  switch (command) {
    case 'task':
      stage.begin();
      stage.status('WORKING', 'On it');
      stage.artifact(words.join(' '), { last: true });
      return stage.status('COMPLETED');
    case 'chunks': {
      // Each chunk after the first waits until the test has seen the previous one.
      const [gate, count] = words;
      stage.begin();
      stage.status('WORKING');
      for (let number = 1; number <= Number(count); number++) {
        if (number > 1) await gateOf(`${gate}-${number}`).promise;
        stage.artifact(`chunk ${number} `, { append: number > 1, last: number === Number(count) });
      }
      return stage.status('COMPLETED');
    }
    case 'saw':
      gateOf(words[0]).resolve();
      return stage.reply('noted');
    case 'ask':
      stage.begin();
      return stage.status('INPUT_REQUIRED', 'What else?');
    case 'wait':
      stage.begin();
      stage.status('WORKING');
      return new Promise((resolve) => canceled.addEventListener('abort', resolve, { once: true }));
    case 'fail':
      stage.begin();
      return stage.status('FAILED', 'It could not be done');
    default:
      return stage.reply(`Echo: ${stage.text}`);
  }
}
