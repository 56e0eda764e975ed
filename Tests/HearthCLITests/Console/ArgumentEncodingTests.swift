import ArgumentParser
import Foundation
import Testing

@testable import HearthCLI

@Suite("Encoding of command-line arguments")
struct ArgumentEncodingTests {
    private func check(_ arguments: [[UInt8]]) throws {
        var strings = arguments.map { bytes in strdup(bytes.map { CChar(bitPattern: $0) } + [0]) } + [nil]
        defer { for string in strings { free(string) } }
        try strings.withUnsafeMutableBufferPointer { buffer in
            try CommandLine.validateEncoding(#require(buffer.baseAddress))
        }
    }

    @Test(arguments: [[0xff], [0xc3], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80]] as [[UInt8]])
    func `Rejects invalid UTF-8 with the position of the argument`(bytes: [UInt8]) {
        let error = #expect(throws: ValidationError.self) {
            try check([Array("hearth".utf8), Array("get".utf8), Array("books/".utf8) + bytes])
        }
        #expect(error?.message.contains("Argument 2") == true)
        #expect(error?.message.contains("books/") == true)
    }

    @Test func `Accepts valid UTF-8`() throws {
        try check([[0xff]])
        try check(["hearth", "get", "", "books/\u{FFFD}é🐵"].map { Array($0.utf8) })
    }
}
