// A reporter of vitest for `npm test`. It prints each failed test at once, and writes the counts of each file to
// VITEST_REPORT_FILE when the file ends. So the counts of a run that is ended from outside are not lost.
import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';
import { root } from './processes.mjs';

class VitestReport {
  #write = (line) => appendFileSync(process.env.VITEST_REPORT_FILE, `${JSON.stringify(line)}\n`);

  onTestModuleQueued({ moduleId }) {
    this.#write({ begun: relative(root, moduleId) });
  }

  onTestCaseResult(test) {
    const { state, errors } = test.result();
    if (state === 'failed') this.#fail(`${relative(root, test.module.moduleId)} > ${test.fullName}`, errors);
  }

  onTestModuleEnd(module) {
    const file = relative(root, module.moduleId);
    const counts = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    for (const test of module.children.allTests()) counts[test.result().state]++;
    // A file that fails to load has no failed test.
    if (!module.ok() && counts.failed === 0) {
      counts.failed = 1;
      const suites = [...module.children.allSuites()];
      this.#fail(
        file,
        [module, ...suites].flatMap((one) => one.errors()),
      );
    }
    const { passed, failed, skipped, pending } = counts;
    const seconds = (module.diagnostic().collectDuration + module.diagnostic().duration) / 1000;
    this.#write({ ended: file, passed, failed, skipped: skipped + pending, seconds });
  }

  onTestRunEnd(_modules, errors) {
    for (const error of errors) this.#fail('outside of all tests', [error]);
  }

  #fail(name, errors = []) {
    const line = `FAILED ${name}: ${(errors[0]?.message ?? '').split('\n', 1)[0].slice(0, 200)}`;
    process.stdout.write(`${line}\n`);
    this.#write({ failure: line });
  }
}

// Vitest asks for it by this name.
export { VitestReport as default };
