import { type StackDescription } from '@lipsync/local-stack';
import { RULES_FILE } from './files';

/** A Prometheus configuration (JSON, which is YAML) that scrapes the services of a local stack and evaluates the rules. */
export function scrapeConfig(services: StackDescription['services'], scrapeSeconds: number): string {
  const interval = `${scrapeSeconds}s`;
  return `${JSON.stringify(
    {
      global: { scrape_interval: interval, evaluation_interval: interval },
      rule_files: [RULES_FILE],
      scrape_configs: services.map(({ name, health_url }) => ({
        job_name: name,
        static_configs: [{ targets: [new URL(health_url).host] }],
      })),
    },
    null,
    2,
  )}\n`;
}
