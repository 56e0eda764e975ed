import DocumentModel
import Testing

@testable import HearthAdmin

@Suite("Works")
struct WorkTests {
    @Test(
        "Any number of documents can have been confirmed",
        arguments: [(.min, 0), (-1, 0), (2, 0), (5, 2), (.max, .max - 3)] as [(Int, Int)]
    )
    func confirmed(count: Int, lostCount: Int) {
        var progress = Work.Progress()
        (progress.done, progress.goneCount) = (2, 1)
        progress.noteLost(of: count)
        #expect(progress.lostCount == lostCount)
    }
}
