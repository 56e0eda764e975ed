import DocumentModel
import DocumentStore
import Synchronization
import Testing

@Suite("Commit sequence") struct CommitSequenceTests {
    @Test
    func `An iterator does not retain a page whose commits have been read`() throws {
        let page = Mutex((1...3).map { Commit(sequence: SequenceNumber($0), time: .minimum, changes: []) })
        let sequence = CommitSequence(after: .zero) { position in
            page.withLock { page in position == .zero ? page : [] }
        } source: { _ in
            nil
        }
        /// Returns whether the page has to be copied to be changed, since it is retained elsewhere.
        func isRetained() -> Bool {
            page.withLock { page in
                let address = page.withUnsafeBufferPointer(\.baseAddress)
                page.swapAt(0, 1)
                page.swapAt(0, 1)
                return page.withUnsafeBufferPointer(\.baseAddress) != address
            }
        }
        var iterator = sequence.makeAsyncIterator()
        #expect(!isRetained())
        _ = iterator.nextInMemory()
        #expect(isRetained())
        iterator = sequence.makeAsyncIterator()
        for number in 1...3 as ClosedRange<UInt64> { #expect(iterator.nextInMemory()?.sequence.rawValue == number) }
        #expect(!isRetained())
        #expect(iterator.nextInMemory() == nil)
    }
}
