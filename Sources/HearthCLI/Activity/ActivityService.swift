import DocumentModel
import FileStore
import HearthAPI
import Logging
import ServiceLifecycle
import StorageIO

/// The recording of the server's activity, whose history is stored in the data folder.
struct ActivityService: Service {
    private let recorder: ActivityRecorder

    /// - Parameter data: The path of the data folder.
    init(_ context: ServiceContext, data: String, logger: Logger) async throws(StatusError) {
        let metrics = context.server.metrics
        recorder = ActivityRecorder(
            metrics.history,
            of: metrics.registry,
            in: try await .open(.activity, inFolder: data),
            logger: logger
        )
    }

    /// Records the activity until the server has shut down.
    func run() async throws {
        await cancelWhenGracefulShutdown { await recorder.run() }
        await recorder.finish()
    }
}
