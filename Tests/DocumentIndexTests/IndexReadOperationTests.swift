import DocumentModel
import Foundation
import StorageIO
import Testing

@testable import DocumentIndex

@Suite("Reads of the index")
struct IndexReadOperationTests {
    private static func operations(_ count: Int, on queue: WorkQueue) throws -> [IndexReadOperation] {
        let operations = (0..<count).map { _ in IndexReadOperation(on: queue) }
        for operation in operations { try operation.check() }
        return operations
    }

    /// Many short queries on a busy machine wait for a processor.
    @Test
    func `Reads that have only waited are not long-running`() throws {
        let queue = WorkQueue(label: "test", width: 1)
        let operations = try Self.operations(20, on: queue)
        Thread.sleep(forTimeInterval: 0.15)
        for operation in operations { try operation.check() }
        for operation in operations { operation.finish() }
    }

    @Test
    func `Long-running reads are limited, and one that ends makes room for another`() throws {
        let queue = WorkQueue(label: "test", width: 1)
        let operations = try Self.operations(14, on: queue)
        let start = Duration.threadProcessorTime
        while Duration.threadProcessorTime - start < .milliseconds(110) {}
        for operation in operations.prefix(12) { try operation.check() }
        #expect { try operations[12].check() } throws: { ($0 as? StatusError)?.code == .unavailable }
        operations[0].finish()
        try operations[13].check()
        for operation in operations.dropFirst() { operation.finish() }
    }
}
