import { DriverProvider } from '../../base/driver-provider.ts';
import { AcpDriver, type AcpProviderOptions } from './acp-driver.ts';

/** The provider of any agent that speaks the Agent Client Protocol over stdio. */
export class AcpProvider extends DriverProvider {
  declare readonly introduce: AcpDriver['introduce'];
  declare readonly listStoredSessions: AcpDriver['listStoredSessions'];
  declare readonly peekStoredSessions: AcpDriver['peekStoredSessions'];
  declare readonly storedMark: AcpDriver['storedMark'];
  declare readonly readStoredHistory: AcpDriver['readStoredHistory'];
  declare readonly fork: NonNullable<DriverProvider['fork']>;

  constructor(options: AcpProviderOptions) {
    super(new AcpDriver(options));
  }
}
