import Foundation
import Logging
import ServiceLifecycle
import UnixSignals

/// Ends the process at once if it is told to stop a second time. Nothing that was acknowledged is lost: the next start recovers it.
struct SecondSignalService: Service {
    let log: ServerLog

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var isStopping = false
            for await signal in await UnixSignalsSequence(trapping: .sigterm, .sigint) {
                if isStopping {
                    log.logger.warning("Stopping at once, as told twice", metadata: ["signal": "\(signal)"])
                    log.close()
                    _exit(1)
                }
                isStopping = true
            }
        }
    }
}
