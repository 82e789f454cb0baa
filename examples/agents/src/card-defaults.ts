/** Members that the cards of all example agents share. */
export const CARD_DEFAULTS = {
  version: '1.0.0',
  provider: { organization: 'Parley', url: 'https://example.com/parley' },
} as const;
