import DocumentModel

extension Duration {
    /// Parses the header `grpc-timeout`: one to eight digits and a unit (`H`, `M`, `S`, `m` for milliseconds, `u`, `n`).
    ///
    /// - Throws: INVALID_ARGUMENT for any other text.
    init(grpcTimeout text: String) throws(GRPCStatus) {
        let digits = text.utf8.dropLast()
        guard (1...8).contains(digits.count), digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let count = Int64(String(decoding: digits, as: UTF8.self)), let unit = text.utf8.last
        else { throw Self.invalidTimeout }
        switch unit {
        case UInt8(ascii: "H"): self = .seconds(count * 3_600)
        case UInt8(ascii: "M"): self = .seconds(count * 60)
        case UInt8(ascii: "S"): self = .seconds(count)
        case UInt8(ascii: "m"): self = .milliseconds(count)
        case UInt8(ascii: "u"): self = .microseconds(count)
        case UInt8(ascii: "n"): self = .nanoseconds(count)
        default: throw Self.invalidTimeout
        }
    }

    private static var invalidTimeout: GRPCStatus {
        GRPCStatus(.invalidArgument, "Expected a grpc-timeout of at most eight digits and one of H, M, S, m, u and n.")
    }
}
