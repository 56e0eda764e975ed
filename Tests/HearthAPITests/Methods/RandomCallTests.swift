import DocumentModel
import Foundation
import FuzzedInputs
import JSONRPC
import StrictJSON
import Synchronization
import TestSupport
import Testing
import UTF8Text

@testable import HearthAPI

/// Random mutations of the documented examples. No input may crash or hang the service or cause an internal error.
///
/// `HEARTH_RANDOM_CALLS` sets the number of calls.
@Suite("Random calls", .tags(.slow), .timeLimit(.minutes(60))) struct RandomCallTests {
    private static let count = ProcessInfo.processInfo.environment["HEARTH_RANDOM_CALLS"].flatMap { Int($0) } ?? 3_000
    private static let seed = SeededGenerator.currentSeed

    @Test
    func `Random calls get a valid JSON-RPC response or none`() async throws {
        var mutator = CallMutator(seed: Self.seed)
        let limits = ServiceLimits(maximumBodyBytes: 1 << 20, callTimeout: .milliseconds(200))
        try await withService(limits: limits) { service in
            let failure = Mutex<String?>(nil)
            let server = RPCServer(methods: HearthMethods.table, limits: limits.rpc) { internalFailure in
                failure.withLock { $0 = "\(internalFailure.method): \(internalFailure.error)" }
            }
            for _ in 0..<Self.count {
                let body = mutator.next()
                let start = ContinuousClock.now
                guard case .response(let response) = await server.handle(body, context: service.context) else { continue }
                let elapsed = ContinuousClock.now - start
                let bytes = response.joined()
                let problem =
                    failure.withLock(\.self) ?? FuzzedInput.checkResponse(bytes)
                    ?? (elapsed > .seconds(20) ? "\(elapsed)" : nil)
                if let problem {
                    let text = String(decoding: body, as: UTF8.self)
                    Issue.record("HEARTH_TEST_SEED=\(Self.seed): \(problem)\n\(text)\n\(String(decoding: bytes, as: UTF8.self))")
                    return
                }
            }
        }
    }
}

/// Generates calls by mutating bytes, values and members of the examples of all methods.
private struct CallMutator {
    private var generator: SeededGenerator
    private let calls: [[UInt8]]
    /// Values of the examples, and unusual values.
    private let values: [[UInt8]]

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
        var calls: [[UInt8]] = []
        var values =
            Self.unusualValues.map { Array($0.utf8) } + [
                Array((String(repeating: "[", count: 70) + String(repeating: "]", count: 70)).utf8)
            ]
        for method in HearthMethods.table.methods {
            for example in method.examples {
                let params = String(decoding: example.params.root.rawBytes, as: UTF8.self)
                calls.append(Array(#"{"jsonrpc":"2.0","id":1,"method":"\#(method.name)","params":\#(params)}"#.utf8))
                values += Self.nodes(in: example.params.root).map { Array($0.rawBytes) }
            }
        }
        self.calls = calls
        self.values = values
    }

    private static let unusualValues = [
        "null", "true", "0", "-1", "1e400", "-0", "9223372036854775807", "9223372036854775808", "0.1", #""""#, #""\ud800""#,
        #""\u0000""#,
        "[]", "{}", "[[]]", #"{"$double":"NaN"}"#, #"{"$map":{"$a":1}}"#, #"{"$x":1}"#,
        #"{"$geoPoint":{"latitude":91,"longitude":0}}"#,
        #"{"$timestamp":"0000-01-01T00:00:00Z"}"#, #"{"$bytes":"="}"#, #"{"$vector":[1]}"#, #"{"$reference":"a"}"#,
        #""__name__""#,
        #""a/b/c""#, #""../x""#, #""e\u0301""#, #"{"and":[]}"#, #"{"or":[{"and":[]}]}"#, #"{"field":"a","op":"in","value":[]}"#,
        #"{"values":[]}"#, #"{"exists":true}"#,
    ]

    /// Returns a value and all nested values.
    private static func nodes(in node: JSONNode) -> [JSONNode] {
        let inner = node.elements.map(Array.init) ?? node.members.map { $0.map(\.value) } ?? []
        return [node] + inner.flatMap(nodes)
    }

    mutating func next() -> [UInt8] {
        if generator.chance(5) {
            let calls = (0..<Int.random(in: 0...4, using: &generator)).map { _ in call() }
            return [UInt8(ascii: "[")] + calls.joined(separator: [UInt8(ascii: ",")]) + [UInt8(ascii: "]")]
        }
        return call()
    }

    private mutating func call() -> [UInt8] {
        var call = calls.randomElement(using: &generator) ?? []
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
            if generator.chance(75) { replaceValue(in: &call) } else { changeBytes(in: &call) }
        }
        return call
    }

    /// Replaces a value by another one.
    private mutating func replaceValue(in call: inout [UInt8]) {
        guard let root = try? JSONText(call).root, let params = root["params"] else { return }
        guard let node = Self.nodes(in: generator.chance(95) ? params : root).randomElement(using: &generator),
            let value = values.randomElement(using: &generator)
        else { return }
        let range = node.offset..<node.offset + node.rawBytes.count
        call.replaceSubrange(range, with: value)
    }

    private mutating func changeBytes(in call: inout [UInt8]) {
        guard !call.isEmpty else { return }
        let start = Int.random(in: call.indices, using: &generator)
        let end = min(call.count, start + Int.random(in: 0...6, using: &generator))
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: call[start] = UInt8.random(in: .min ... .max, using: &generator)
        case 1: call.removeSubrange(start..<end)
        default: call.insert(contentsOf: call[start..<end], at: start)
        }
    }
}
