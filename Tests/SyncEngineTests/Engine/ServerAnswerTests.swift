import DocumentModel
import SyncEngine
import Testing
import UTF8Text

@Suite("Answers of the server to reads")
struct ServerAnswerTests {
    private let path: DocumentPath
    private let query: ViewQuery
    private let missing: RemoteDocument

    init() throws {
        path = try DocumentPath("c/d")
        query = try ViewQuery(document: path)
        missing = RemoteDocument(path: path, content: .missing, version: .minimum)
    }

    @Test
    func `The answer that a document does not exist is shown, also without a time`() throws {
        var engine = SyncEngine(cache: MemoryCache(isEager: false))
        _ = try engine.start()
        let time = try Timestamp(microseconds: 5)
        let found = RemoteDocument(path: path, content: .found(["n": .integer(1)], createTime: time), version: time)
        let known = try engine.apply(RemoteEvent(time: time, documents: [found]), answering: query)
        #expect(known.snapshot.documents.map(\.path) == [path])
        let answer = try engine.apply(RemoteEvent(documents: [missing]), answering: query)
        #expect(answer.snapshot.documents.isEmpty && !answer.snapshot.isFromCache)
    }

    @Test
    func `A local write is shown in an answer without a time`() throws {
        var engine = SyncEngine(cache: MemoryCache(isEager: false))
        _ = try engine.start()
        _ = try engine.write([.set(path, ["n": .integer(2)])], nil, at: .minimum)
        let answer = try engine.apply(RemoteEvent(documents: [missing]), answering: query)
        #expect(answer.snapshot.documents.map(\.fields) == [["n": .integer(2)]])
    }
}
