import type { AgentCard, SecurityScheme } from 'parley-a2a';
import type { Output } from '../output/output.js';

/**
 * Prints a card: identity, capabilities, interfaces, security schemes, skills. `verification`: the result of the check
 * of its signatures; absent without a check.
 */
export function writeCard(output: Output, card: AgentCard, verification?: string): void {
  output.field('Name', card.name);
  output.field('Description', card.description);
  output.field('Version', card.version);
  output.field('Provider', card.provider && [card.provider.organization, card.provider.url].filter(Boolean).join(', '));
  output.field('Documentation', card.documentationUrl);
  output.field('Capabilities', capabilities(card));
  for (const { protocolBinding, protocolVersion, url, tenant } of card.supportedInterfaces) {
    const place = [protocolBinding, protocolVersion, url].join(' ');
    output.field('Interface', tenant === undefined || tenant === '' ? place : `${place} (tenant ${tenant})`);
  }
  for (const [name, scheme] of Object.entries(card.securitySchemes ?? {}))
    output.field('Security', `${name}: ${describeScheme(scheme)}`);
  for (const { schemes = {} } of card.securityRequirements ?? [])
    output.field('Requires', Object.keys(schemes).join(' and ') || 'nothing');
  const { signatures = [] } = card;
  output.field(
    'Signatures',
    verification ?? (signatures.length === 0 ? undefined : `${signatures.length}, not verified`),
  );
  for (const skill of card.skills) {
    output.field('Skill', `${skill.id}: ${skill.description || skill.name}`);
    if (!output.verbose) continue;
    output.field('Tags', skill.tags.join(', ') || undefined);
    for (const example of skill.examples ?? []) output.field('Example', example);
  }
  if (!output.verbose) return;
  output.field('Input', card.defaultInputModes.join(', '));
  output.field('Output', card.defaultOutputModes.join(', '));
  for (const { uri, required } of card.capabilities.extensions ?? [])
    output.field('Extension', `${uri ?? ''}${required === true ? ' (required)' : ''}`);
}

function capabilities({ capabilities: { streaming, pushNotifications, extendedAgentCard } }: AgentCard): string {
  const has = [
    streaming === true ? 'streaming' : undefined,
    pushNotifications === true ? 'push notifications' : undefined,
    extendedAgentCard === true ? 'extended card' : undefined,
  ];
  return has.filter((name) => name !== undefined).join(', ') || 'none';
}

function describeScheme(scheme: SecurityScheme): string {
  if (scheme.apiKeySecurityScheme !== undefined) {
    const { location, name } = scheme.apiKeySecurityScheme;
    return `API key in the ${location} ${name}`;
  }
  if (scheme.httpAuthSecurityScheme !== undefined) return `HTTP ${scheme.httpAuthSecurityScheme.scheme}`;
  if (scheme.oauth2SecurityScheme !== undefined)
    return `OAuth 2, ${Object.keys(scheme.oauth2SecurityScheme.flows).join(', ')}`;
  if (scheme.openIdConnectSecurityScheme !== undefined)
    return `OpenID Connect, ${scheme.openIdConnectSecurityScheme.openIdConnectUrl}`;
  return scheme.mtlsSecurityScheme !== undefined ? 'mutual TLS' : 'a scheme that this tool does not know';
}
