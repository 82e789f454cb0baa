/** Every label of text output. Scripts read them: one that changes breaks somebody. */
export const LABELS = {
  task: 'Task',
  context: 'Context',
  state: 'State',
  message: 'Message',
  artifact: 'Artifact',
  description: 'Description',
  text: 'Text',
  data: 'Data',
  file: 'File',
  saved: 'Saved',
  metadata: 'Metadata',
  time: 'Time',
  history: 'History',
  resume: 'Resume',
  next: 'Next',
  total: 'Total',
} as const;
