import DocumentModel
import DocumentStore
import StrictJSON
import Testing

@testable import HearthService

/// The opaque texts that clients give back: what they hold survives, and nothing else is taken for one.
@Suite struct TokenTests {
    @Test(
        "Base64 for URLs takes exactly what it makes",
        arguments: [
            ([], ""), ([0xfb], "-w"), ([0xff, 0xff], "__8"), ([0, 1, 2], "AAEC"), ([0xde, 0xad, 0xbe, 0xef], "3q2-7w"),
        ] as [([UInt8], String)]
    )
    func base64(bytes: [UInt8], text: String) {
        #expect(Base64.url.encode(bytes) == text)
        #expect(Base64.url.decode(text.utf8) == bytes)
    }

    @Test("Other spellings are refused", arguments: ["A", "AAAAA", "-x", "__9", "3q2+7w", "3q2-7w==", "AA EC", "ÄAEC"])
    func refusedBase64(text: String) {
        #expect(Base64.url.decode(text.utf8) == nil)
    }

    @Test("A page token holds any ID", arguments: ["a", "é", "e\u{301}", "😀", "a\u{0}b", String(repeating: "x", count: 1_500)])
    func pageToken(id: String) {
        let token = PageToken(after: UTF8Key(id))
        #expect(PageToken(token.text) == token)
    }

    @Test("Other texts are no page token", arguments: ["", "AA", "Av8", "Af8", "x"])
    func refusedPageToken(text: String) {
        #expect(PageToken(text) == nil)
    }

    @Test("A watch token knows its target, history and place")
    func watchToken() throws {
        let target = WatchTarget.collection(try .init("a"))
        let token = WatchToken(target: target, epoch: "e1", sequence: SequenceNumber(.max - 1), time: .minimum)
        let read = try #require(WatchToken(token.text))
        #expect(read == token)
        #expect(read.sequence == SequenceNumber(.max - 1))
        #expect(token.text.utf8.count < 64)
        #expect(read.belongs(to: target))
        #expect(!read.belongs(to: .collection(try .init("b"))))
        #expect(!read.belongs(to: .document(try .init("a/b"))))
        #expect(read.belongs(toEpoch: "e1"))
        #expect(!read.belongs(toEpoch: "e2"))
    }

    @Test("Other texts are no watch token", arguments: ["", "AQ", "AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "junk"])
    func refusedWatchToken(text: String) {
        #expect(WatchToken(text) == nil)
    }
}
