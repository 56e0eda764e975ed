import DocumentModel
import Gzip
import NIOCore
import Testing

@testable import FirestoreGRPC

@Suite("Messages of a gRPC body")
struct GRPCMessageReaderTests {
    private static let messages: [[UInt8]] = [[1, 2, 3], [], Array(repeating: 7, count: 300), [0]]
    private static let body = messages.flatMap { framed($0) }

    private func read(_ parts: [[UInt8]], maximumBytes: Int = 1_000, encoding: GRPCEncoding = .identity) throws -> [[UInt8]] {
        var reader = GRPCMessageReader(maximumBytes: maximumBytes, encoding: encoding)
        var messages: [[UInt8]] = []
        for part in parts {
            reader.append(ByteBuffer(bytes: part))
            while let message = try reader.next() { messages.append(try message.decompressed()) }
        }
        try reader.finish()
        return messages
    }

    @Test
    func `A body may be split anywhere`() throws {
        for offset in 0...Self.body.count {
            #expect(try read([Array(Self.body[..<offset]), Array(Self.body[offset...])]) == Self.messages)
        }
        #expect(try read(Self.body.map { [$0] }) == Self.messages)
    }

    @Test
    func `Several messages may share a part`() throws {
        #expect(try read([Self.body]) == Self.messages)
        #expect(try read([]) == [])
    }

    @Test(arguments: 1..<8)
    func `A body that ends inside a message is rejected`(count: Int) {
        let error = #expect(throws: GRPCStatus.self) { try read([Array(Self.body.prefix(count))]) }
        #expect(error?.code == .invalidArgument)
    }

    @Test
    func `The length of a message is checked before its bytes arrive`() throws {
        var reader = GRPCMessageReader(maximumBytes: 1_000)
        reader.append(ByteBuffer(bytes: [0, 0, 0, 3]))
        #expect(try reader.next() == nil)
        reader.append(ByteBuffer(bytes: [0xE9]))
        let error = #expect(throws: GRPCStatus.self) { try reader.next() }
        #expect(error?.code == .resourceExhausted)
        #expect(error?.message == "A message has 1001 bytes; the maximum is 1000.")
        #expect(try read([framed(Array(repeating: 1, count: 1_000))]).first?.count == 1_000)
        #expect(throws: GRPCStatus.self) { try read([[0, 0xFF, 0xFF, 0xFF, 0xFF]]) }
    }

    @Test(arguments: [UInt8(1), 2, 255])
    func `A flag that the call doesn't allow is an error`(flag: UInt8) {
        let error = #expect(throws: GRPCStatus.self) { try read([framed([1], flag: flag)]) }
        #expect(error?.code == .internal)
    }

    @Test
    func `Compressed messages are decompressed, others are left as they are`() throws {
        let text = Array(String(repeating: "hitchhiker", count: 90).utf8)
        let compressed = GzipCompressor.compress(text)
        #expect(compressed.count < 100)
        let body = framed(compressed, flag: 1) + framed(text) + framed(GzipCompressor.compress([]), flag: 1)
        #expect(try read([body], encoding: .gzip) == [text, text, []])
        for offset in 0...body.count {
            #expect(try read([Array(body[..<offset]), Array(body[offset...])], encoding: .gzip).count == 3)
        }
    }

    @Test
    func `A message that is too large after decompression is rejected`() throws {
        let compressed = GzipCompressor.compress(Array(repeating: 0, count: 64 << 20))
        let error = #expect(throws: GRPCStatus.self) {
            try read([framed(compressed, flag: 1)], maximumBytes: 1 << 20, encoding: .gzip)
        }
        #expect(error?.code == .resourceExhausted)
    }

    @Test
    func `Decompression ends when there is no memory for the message`() throws {
        var reader = GRPCMessageReader(maximumBytes: 64 << 20, encoding: .gzip)
        reader.append(ByteBuffer(bytes: framed(GzipCompressor.compress(Array(repeating: 0, count: 32 << 20)), flag: 1)))
        let message = try reader.next()
        #expect(message?.maximumLength ?? 0 >= 32 << 20)
        let error = #expect(throws: GRPCStatus.self) { try message?.decompressed { $0 < 1 << 20 } }
        #expect(error?.code == .resourceExhausted)
    }

    @Test
    func `Invalid compressed data is rejected`() {
        let compressed = GzipCompressor.compress([1, 2, 3])
        for bytes in [[1, 2, 3], Array(compressed.dropLast()), compressed + [0]] {
            let error = #expect(throws: GRPCStatus.self) { try read([framed(bytes, flag: 1)], encoding: .gzip) }
            #expect(error?.code == .invalidArgument)
        }
    }

    @Test
    func `A message is written with its prefix`() {
        var buffer = ByteBuffer()
        for message in Self.messages { buffer.writeGRPCMessage(message) }
        #expect(Array(buffer.readableBytesView) == Self.body)
    }
}
