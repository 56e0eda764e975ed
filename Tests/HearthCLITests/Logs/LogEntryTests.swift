import DocumentModel
import Foundation
import Logging
import Testing

@testable import HearthCLI

@Suite("Log entries")
struct LogEntryTests {
    private static let time = "2026-11-26T14:01:30.123456Z"

    private func line(_ format: LogFormat, _ message: String, _ metadata: Logger.Metadata = [:]) throws -> String {
        let entry = LogEntry(time: try Timestamp(rfc3339: Self.time), level: .notice, message: message, metadata: metadata)
        return String(decoding: entry.line(format), as: UTF8.self)
    }

    @Test(arguments: [
        (LogFormat.text, #"2026-11-26T14:01:30.123Z notice Key created count=3 key.id=8be2 note="a \"b\" c""#),
        (.logfmt, #"time=2026-11-26T14:01:30.123Z level=notice msg="Key created" count=3 key.id=8be2 note="a \"b\" c""#),
        (.journald, #"<5>Key created count=3 key.id=8be2 note="a \"b\" c""#),
        (
            .json,
            #"{"time":"2026-11-26T14:01:30.123Z","level":"notice","message":"Key created","count":3,"key.id":"8be2","note":"a \"b\" c"}"#
        ),
    ])
    func `An entry is one line in each form`(format: LogFormat, expected: String) throws {
        let metadata: Logger.Metadata = ["key.id": "8be2", "count": .stringConvertible(3), "note": "a \"b\" c"]
        #expect(try line(format, "Key created", metadata) == expected + "\n")
    }

    @Test(arguments: LogFormat.allCases)
    func `Line breaks, control and direction characters of names are escaped in each form`(format: LogFormat) throws {
        let name = "x\r\n<2>made up\u{1b}[31m\u{7f}\u{85}\u{9b}\u{2028}\u{2029}\u{202e}\u{0}\u{E0001} \\ \" 日本 😀"
        let nested: Logger.MetadataValue = ["a": .array([.string(name)])]
        for text in [
            try line(format, name), try line(format, "m", ["a": .string(name)]), try line(format, "m", ["a": nested]),
            try line(format, "m", [name: "a"]),
        ] {
            #expect(text.utf8.last == UInt8(ascii: "\n"))
            let scalars = text.unicodeScalars.dropLast()
            #expect(
                scalars.allSatisfy {
                    $0 >= " " && !"\u{7f}\u{85}\u{9b}\u{2028}\u{2029}\u{202e}\u{E0001}".unicodeScalars.contains($0)
                },
                "\(text)"
            )
            #expect(text.contains("日本 😀"))
        }
    }

    @Test
    func `A line of JSON can be read back, with all characters`() throws {
        let name = "x\r\n\u{1b}\u{202e}\u{E0001} \\ \" 日本 😀"
        let text = try line(.json, name, ["time": "a", "rate": .stringConvertible(0.5), "isOn": .stringConvertible(true)])
        let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        #expect(object["message"] as? String == name)
        #expect(object["time"] as? String == "2026-11-26T14:01:30.123Z")
        #expect(object["field.time"] as? String == "a")
        #expect(object["rate"] as? Double == 0.5)
        #expect(object["isOn"] as? Bool == true)
    }

    @Test(arguments: zip(Logger.Level.allCases, [7, 7, 6, 5, 4, 3, 2]))
    func `Levels have priorities of syslog`(level: Logger.Level, priority: Int) {
        #expect(level.syslogPriority == priority)
    }

    @Test
    func `The journal's form is chosen only for the stream that the journal has opened`() throws {
        let pipe = Pipe()
        let descriptor = pipe.fileHandleForWriting.fileDescriptor
        var status = stat()
        #expect(fstat(descriptor, &status) == 0)
        let stream = "\(status.st_dev):\(status.st_ino)"
        #expect(LogFormat.auto.resolved(for: descriptor, stream: stream) == .journald)
        #expect(LogFormat.auto.resolved(for: descriptor, stream: "\(status.st_dev):\(status.st_ino + 1)") == .text)
        #expect(LogFormat.auto.resolved(for: descriptor, stream: nil) == .text)
        #expect(LogFormat.auto.resolved(for: -1, stream: stream) == .text)
        #expect(LogFormat.json.resolved(for: descriptor, stream: stream) == .json)
    }
}
