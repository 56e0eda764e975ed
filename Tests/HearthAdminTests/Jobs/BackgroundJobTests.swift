import DocumentModel
import Testing

@testable import HearthAdmin

@Suite("Background jobs")
struct BackgroundJobTests {
    @Test(
        arguments: [(.min, 0), (-1, 0), (2, 0), (5, 2), (.max, .max - 3)] as [(Int, Int)]
    )
    func `The unmatched count is computed from any confirmed count`(confirmedCount: Int, unmatchedCount: Int) {
        var progress = BackgroundJob.Progress()
        (progress.completedCount, progress.alreadyDeletedCount) = (2, 1)
        progress.countUnmatched(ofConfirmed: confirmedCount)
        #expect(progress.unmatchedCount == unmatchedCount)
    }
}
