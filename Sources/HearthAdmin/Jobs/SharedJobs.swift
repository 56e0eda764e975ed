package import DocumentModel
import DocumentStore
import HearthAPI
package import Logging
package import StorageIO
import UTF8Text

/// The jobs of all servers of an engine, in a record that they share.
///
/// Each server reports its own jobs every few seconds. So every server lists all of them, can ask for the end of any, and says of those
/// whose server reports no more that they have ended with it.
package final class SharedJobs: Sendable {
    private let record: any AtomicRecord
    private let logger: Logger
    private let now: @Sendable () -> Timestamp

    /// The time between two reports of a job.
    private static let reportInterval = Duration.seconds(2)
    /// The number of attempts to report the end of a job.
    private static let maximumAttempts = 30
    /// The time without a report after which the server of a job is assumed to have ended. The clocks of servers must differ by less.
    private static let maximumSilence = Duration.seconds(30)

    package init(
        in record: some AtomicRecord,
        logger: Logger,
        now: @escaping @Sendable () -> Timestamp = Timestamp.current
    ) {
        (self.record, self.logger, self.now) = (record, logger, now)
    }

    /// Reports a job of this server, until its end is reported. Stops it if another server asks for that.
    func keepReporting(_ job: BackgroundJob) async {
        var attempts = 0
        while true {
            let isFinished = job.progress.isFinished
            let isReported = await report(job)
            guard isFinished else {
                await job.wait(atMost: Self.reportInterval)
                continue
            }
            attempts += 1
            guard !isReported, attempts < Self.maximumAttempts else { return }
            try? await Task.sleep(for: Self.reportInterval)
        }
    }

    /// Reports a job of this server once; returns false if the engine did not take the report.
    @discardableResult
    func report(_ job: BackgroundJob) async -> Bool {
        let (entry, id) = (JobFile.Entry(job, at: now()), job.id)
        do throws(StatusError) {
            let snapshot = try await record.update { bytes throws(StatusError) in
                var file = try JobFile(replacingDamaged: bytes)
                var entry = entry
                entry.isCancelled = entry.isCancelled || !entry.progress.isFinished && file.entries[id]?.isCancelled == true
                file.report(entry, id: id)
                return file.encoded
            }
            if try JobFile(contents: snapshot.bytes).entries[id]?.isCancelled == true { job.cancel() }
            return true
        } catch {
            // The job itself tells its caller that the engine is away.
            logger.debug("A job could not be reported to other servers", metadata: ["error": "\(error.message)"])
            return false
        }
    }

    /// Returns the jobs of all servers, as they have last reported them; none if a newer version of Hearth has written the record.
    ///
    /// - Throws: The error of the engine.
    func jobs(_ errors: PageErrorLog) async throws(StatusError) -> [BackgroundJob] {
        let (now, bytes) = (now(), try await record.snapshot().bytes)
        do throws(StatusError) {
            return try JobFile(replacingDamaged: bytes).entries.map { id, entry in
                let isLost = entry.distance(to: now) > Self.maximumSilence
                return BackgroundJob(entry, id: id, isLost: isLost, errors: errors)
            }
        } catch {
            logger.debug("The jobs of other servers could not be read", metadata: ["error": "\(error.message)"])
            return []
        }
    }

    /// Asks the server of a job to stop it, which it does with its next report.
    func cancel(_ id: UTF8Key) async throws(StatusError) {
        _ = try await record.update { bytes throws(StatusError) in
            var file = try JobFile(replacingDamaged: bytes)
            return file.cancel(id) ? file.encoded : nil
        }
    }
}

extension JobFile.Entry {
    fileprivate init(_ job: BackgroundJob, at reportTime: Timestamp) {
        self.init(
            kind: job.kind,
            subject: job.subject,
            database: job.database,
            key: job.identity.keyID,
            returnURL: job.returnURL,
            startTime: job.startTime,
            reportTime: reportTime,
            isCancelled: job.isCancelled,
            progress: job.progress
        )
    }
}

extension BackgroundJob {
    /// Creates a job of another server.
    ///
    /// - Parameter isLost: True if its server has not reported it for a while.
    fileprivate convenience init(_ entry: JobFile.Entry, id: UTF8Key, isLost: Bool, errors: PageErrorLog) {
        self.init(
            entry.kind,
            of: entry.subject,
            in: entry.database,
            id: id,
            identity: entry.key.map { .key($0) } ?? .openAccess,
            returnURL: entry.returnURL,
            at: entry.startTime,
            isReported: true,
            errors: errors
        )
        var progress = entry.progress
        if isLost, !progress.isFinished {
            progress.isFinished = true
            progress.failure = localized(
                "The server that ran the job has ended, or is cut off from the database engine. What it has changed is kept, also what it has not reported."
            )
        }
        set(
            progress,
            isCancelled: entry.isCancelled,
            duration: .microseconds(entry.reportTime.microseconds - entry.startTime.microseconds)
        )
    }
}
