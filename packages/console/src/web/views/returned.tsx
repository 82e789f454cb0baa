import { Empty } from './controls.js';

/** The end of a sign-in at an authorization server, in the tab of that server. */
export function Returned() {
  return (
    <main class="main">
      <div class="page">
        <Empty title="Back from the sign-in">Close this tab. The console goes on in the tab before.</Empty>
      </div>
    </main>
  );
}
