import DocumentModel
import DocumentStore
import Testing
import UTF8Text

@testable import HearthAPI

@Suite("Page and resume tokens") struct TokenTests {
    @Test(
        arguments: [
            ([], ""), ([0xfb], "-w"), ([0xff, 0xff], "__8"), ([0, 1, 2], "AAEC"), ([0xde, 0xad, 0xbe, 0xef], "3q2-7w"),
        ] as [([UInt8], String)]
    )
    func `base64url round-trips`(bytes: [UInt8], text: String) {
        #expect(Base64.url.encode(bytes) == text)
        #expect(Base64.url.decode(text.utf8) == bytes)
    }

    @Test(arguments: ["A", "AAAAA", "-x", "__9", "3q2+7w", "3q2-7w==", "AA EC", "ÄAEC"])
    func `Non-canonical base64url is rejected`(text: String) {
        #expect(Base64.url.decode(text.utf8) == nil)
    }

    @Test(
        arguments: ["a", "é", "e\u{301}", "😀", "a\u{0}b", String(repeating: "x", count: 1_500)]
    )
    func `A page token round-trips any ID`(id: String) {
        let token = PageToken(after: UTF8Key(id))
        #expect(PageToken(token.text) == token)
    }

    @Test(arguments: ["", "AA", "Av8", "Af8", "x"])
    func `Malformed page tokens are rejected`(text: String) {
        #expect(PageToken(text) == nil)
    }

    @Test
    func `A resume token round-trips its target, epoch and sequence number`() throws {
        let target = PreparedWatchTarget.collection(try .init("a"))
        let token = ResumeToken(target: target, epoch: "e1", sequence: SequenceNumber(.max - 1), time: .minimum)
        let read = try #require(ResumeToken(token.text))
        #expect(read == token)
        #expect(read.sequence == SequenceNumber(.max - 1))
        #expect(token.text.utf8.count < 64)
        #expect(read.belongs(to: target))
        #expect(!read.belongs(to: .collection(try .init("b"))))
        #expect(!read.belongs(to: .document(try .init("a/b"))))
        #expect(read.belongs(toEpoch: "e1"))
        #expect(!read.belongs(toEpoch: "e2"))
    }

    @Test(arguments: ["", "AQ", "AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "junk"])
    func `Malformed resume tokens are rejected`(text: String) {
        #expect(ResumeToken(text) == nil)
    }
}
