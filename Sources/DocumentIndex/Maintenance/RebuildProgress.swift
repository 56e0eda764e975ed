internal import DocumentModel
internal import UTF8Text

/// The progress of a rebuild, which first reads all documents and then writes their entries in index order.
struct RebuildProgress: Sendable {
    let startTime: ContinuousClock.Instant
    /// The number of documents that have been read.
    var readCount = 0
    /// The number of documents that have been counted.
    var countedCount = 0
    /// True if ``countedCount`` is the number of all documents.
    var isCounted = false
    /// The part of the entries that has been written, from 0 to 1.
    var writtenFraction = 0.0

    init(startTime: ContinuousClock.Instant) {
        self.startTime = startTime
    }

    /// The share of reading in the duration of a rebuild; the rest is the writing of the entries.
    private static let readingShare = 0.9

    /// The number of documents that are known to exist.
    var knownCount: Int { max(readCount, countedCount) }

    /// The number of all documents, including those written since they were counted; `nil` while they are being counted.
    var totalCount: Int? { isCounted ? knownCount : nil }

    /// The completed part of the rebuild, from 0 to 1; `nil` while the documents are being counted.
    private var fraction: Double? {
        totalCount.map { total in
            let read = total == 0 ? 1 : Double(readCount) / Double(total)
            return Self.readingShare * read + (1 - Self.readingShare) * writtenFraction
        }
    }

    /// Returns the progress for callers, with an estimate of the time left.
    func report(at now: ContinuousClock.Instant) -> StatusError.Progress {
        let timeLeft = fraction.flatMap { fraction in
            fraction < 0.01 ? nil : (now - startTime) * ((1 - fraction) / fraction)
        }
        return StatusError.Progress(
            completedCount: readCount,
            totalCount: totalCount,
            fraction: fraction,
            timeLeft: timeLeft
        )
    }
}

extension StatusError {
    /// Creates the error of a query during a rebuild.
    init(rebuilding progress: Progress) {
        self.init(
            .unavailable,
            "The index is being rebuilt\(progress.text). Queries need it; try again later. Document reads and writes are unaffected."
        )
        self.progress = progress
        retryAfter = min(max(progress.timeLeft ?? .seconds(1), .seconds(1)), .seconds(30))
    }
}

extension StatusError.Progress {
    /// The progress in words, after "The index is being rebuilt".
    fileprivate var text: String {
        guard let totalCount, let percentage else {
            return completedCount > 0
                ? "; it contains \(completedCount.counted("document")) so far" : ", which has just begun"
        }
        let left = timeLeft.map { ", about \(Self.text(of: $0)) left" } ?? ""
        return ": \(percentage) % complete, \(completedCount) of \(totalCount.counted("document")) read\(left)"
    }

    private static func text(of duration: Duration) -> String {
        let seconds = max(1, Int((duration / .seconds(1)).rounded(.up)))
        return seconds < 120 ? seconds.counted("second") : ((seconds + 30) / 60).counted("minute")
    }
}
