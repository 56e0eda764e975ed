import DocumentModel
import DocumentStore
import TestSupport
import Testing

@testable import FileStore

@Suite("Changes in the journal")
struct JournalChangesTests {
    @Test(arguments: [0, 1_000])
    func `The last change to each document is kept`(expectedCount: Int) throws {
        var generator = SeededGenerator()
        var changes = JournalChanges(expecting: expectedCount)
        var last: [DocumentPath: (sequence: UInt64, updateTime: Timestamp?)] = [:]
        var order: [DocumentPath] = []
        for sequence in 1...UInt64(800) {
            let collection = ["a", "b/é/a", "a/b/c"].randomElement(using: &generator) ?? "a"
            let path = try DocumentPath("\(collection)/\(Int.random(in: 0..<200, using: &generator))")
            let time = try Timestamp(microseconds: Int64(sequence))
            let fields = Array("{\"n\":\(sequence)}".utf8)
            let image =
                generator.chance(20) ? nil : EncodedDocument(path: path, createTime: time, updateTime: time, fieldsJSON: fields)
            changes.set(path, SequenceNumber(sequence), time, after: image)
            if last.updateValue((sequence, image?.updateTime), forKey: path) == nil { order.append(path) }
        }
        #expect(changes.count == last.count)
        for (number, path) in order.enumerated() {
            let change = try #require(changes[path], "seed \(generator.seed)")
            #expect(change.sequence.rawValue == last[path]?.sequence && change.updateTime == last[path]?.updateTime)
            #expect(change.number == number)
        }
        #expect(changes[try DocumentPath("a/b")] == nil)
        let deleted = try changes.filter { $0.updateTime == nil }
        #expect(deleted.map(\.path) == order.filter { last[$0]?.updateTime == nil })
    }
}
