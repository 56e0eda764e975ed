package import DocumentModel
import DocumentStore
package import Logging
package import PrometheusMetrics
package import StorageIO

/// Records the activity of a server in its history, and stores that in a file, so that it survives a restart.
///
/// The file is replaced every five minutes and at shutdown. While it cannot be written, or the disk is nearly full, the history is kept
/// in memory only.
package actor ActivityRecorder {
    private let history: ActivityHistory
    private let metrics: ActivityMetrics
    private let file: LockedAtomicFile?
    private let logger: Logger
    /// The number of samples when the history was stored last.
    private var storedCount = 0
    private var hasFailed = false
    /// True if the file stays as it is, since it may have a history that this process cannot read.
    private var keepsFile = false

    /// The number of samples between two replacements of the file.
    private static let samplesPerFile = 30
    /// The number of samples that are worth a replacement at shutdown.
    private static let samplesAtShutdown = 6
    /// The free space that is left to others.
    private static let minimumFreeBytes = 16 << 20

    /// - Parameters:
    ///   - registry: The metrics. All parts of the server must have declared theirs.
    ///   - file: The file; `nil` to keep the history in memory only.
    package init(_ history: ActivityHistory, of registry: MetricsRegistry, in file: LockedAtomicFile?, logger: Logger) {
        (self.history, self.file, self.logger) = (history, file, logger)
        metrics = ActivityMetrics(registry)
    }

    /// Takes over the stored history, then records the activity at each interval until the task is cancelled.
    package func run() async {
        await restore()
        repeat { await record() } while (try? await Task.sleep(for: Self.timeToNextReading)) != nil
    }

    /// The time until the clock shows a multiple of the interval, so that each slot has a sample.
    private static var timeToNextReading: Duration {
        let interval = Int64(ActivityHistory.interval / .microseconds(1))
        return .microseconds(interval - Timestamp.current().microseconds % interval)
    }

    /// Takes over the stored history. A file that is damaged is replaced; one of a newer version, or one that cannot be read, stays, and
    /// the history is kept in memory only.
    package func restore() async {
        let bytes: [UInt8]?
        do throws(StatusError) {
            bytes = try await file?.snapshot().bytes
        } catch {
            return keepFile(error)
        }
        do throws(StatusError) {
            if let bytes { try history.restore(bytes) }
        } catch {
            guard error.code == .dataLoss else { return keepFile(error) }
            logger.warning(
                "The stored activity is damaged and begins anew",
                metadata: ["file.path": "\(file?.name ?? "")", "error": "\(error)"]
            )
        }
    }

    private func keepFile(_ error: StatusError) {
        keepsFile = true
        logger.warning(
            "The stored activity cannot be read; new activity is kept in memory only",
            metadata: ["file.path": "\(file?.name ?? "")", "error": "\(error)"]
        )
    }

    /// Records a reading, and stores the history if it is due.
    package func record(at time: Timestamp = .current(), clock: ContinuousClock.Instant = .now) async {
        let reading = metrics.reading()
        history.record(reading, at: time, clock: clock)
        if history.sampleCount - storedCount >= Self.samplesPerFile { await store(reading.gauges) }
    }

    /// Records the reading at shutdown, and stores the history, unless little has been added.
    package func finish(at time: Timestamp = .current(), clock: ContinuousClock.Instant = .now) async {
        await record(at: time, clock: clock)
        if history.sampleCount - storedCount >= Self.samplesAtShutdown { await store(metrics.reading().gauges) }
    }

    private func store(_ gauges: ActivityGauges) async {
        storedCount = history.sampleCount
        guard let file, !keepsFile, gauges.freeBytes ?? .max >= Self.minimumFreeBytes else { return }
        let bytes = history.encoded()
        do throws(StatusError) {
            _ = try await file.update { _ in bytes }
            hasFailed = false
        } catch {
            // The next attempt is made in five minutes.
            if !hasFailed { logger.warning("Failed to store the activity", metadata: ["error": "\(error)"]) }
            hasFailed = true
        }
    }
}
