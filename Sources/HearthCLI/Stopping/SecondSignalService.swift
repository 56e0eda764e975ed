import Foundation
import Logging
import ServiceLifecycle
import Synchronization
import UnixSignals

/// Ends the process at once if it is told to stop a second time. Nothing that was acknowledged is lost: the next start recovers it.
final class SecondSignalService: Service {
    private let log: ServerLog
    private let stopping = Atomic(false)

    init(log: ServerLog) {
        self.log = log
    }

    /// True if the process was told to stop, be it while the server stopped for another reason.
    var wasToldToStop: Bool { stopping.load(ordering: .relaxed) }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            for await signal in await UnixSignalsSequence(trapping: .sigterm, .sigint) {
                if self.stopping.exchange(true, ordering: .relaxed) {
                    self.log.logger.warning("Stopping at once, as told twice", metadata: ["signal": "\(signal)"])
                    self.log.close()
                    _exit(1)
                }
            }
        }
    }
}
