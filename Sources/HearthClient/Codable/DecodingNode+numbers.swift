internal import DocumentModel
internal import Foundation

extension DecodingNode {
    func boolean(_ value: Value, _ key: (any CodingKey)?) throws -> Bool {
        guard case .boolean(let boolean) = value else { throw mismatch(Bool.self, value, key) }
        return boolean
    }

    func string(_ value: Value, _ key: (any CodingKey)?) throws -> String {
        guard case .string(let string) = value else { throw mismatch(String.self, value, key) }
        return string
    }

    /// Accepts integers, and doubles with an integral value.
    func integer<Number: FixedWidthInteger>(_ value: Value, _ key: (any CodingKey)?) throws -> Number {
        let number: Number?
        switch value {
        case .integer(let integer): number = Number(exactly: integer)
        case .double(let double): number = Number(exactly: double)
        default: throw mismatch(Number.self, value, key)
        }
        guard let number else { throw corrupted("The number \(value.numberText) does not fit in \(Number.self).", key) }
        return number
    }

    /// Accepts doubles, integers, and the strings of the non-conforming float strategy.
    func double(_ value: Value, _ key: (any CodingKey)?) throws -> Double {
        switch value {
        case .double(let double): return double
        case .integer(let integer): return Double(integer)
        case .string(let string):
            guard let double = nonConformingFloat(string) else { throw mismatch(Double.self, value, key) }
            return double
        default: throw mismatch(Double.self, value, key)
        }
    }

    func float(_ value: Value, _ key: (any CodingKey)?) throws -> Float {
        let double: Double
        do {
            double = try self.double(value, key)
        } catch {
            throw mismatch(Float.self, value, key)
        }
        guard !double.isFinite || abs(double) <= Double(Float.greatestFiniteMagnitude) else {
            throw corrupted("The number \(double) does not fit in Float.", key)
        }
        return Float(double)
    }

    /// Converts a double by its shortest decimal representation: 0.1 becomes exactly 0.1.
    func decimal(_ value: Value, _ key: (any CodingKey)?) throws -> Decimal {
        switch value {
        case .integer(let integer): return Decimal(integer)
        case .double(let double):
            guard double.isFinite, let decimal = Decimal(string: double.description) else {
                throw corrupted("The number \(double) does not fit in Decimal.", key)
            }
            return decimal
        default: throw mismatch(Decimal.self, value, key)
        }
    }

    private func nonConformingFloat(_ string: String) -> Double? {
        guard case .convertFromString(let positiveInfinity, let negativeInfinity, let nan) = session.strategies.float else {
            return nil
        }
        return switch string {
        case positiveInfinity: .infinity
        case negativeInfinity: -.infinity
        case nan: .nan
        default: nil
        }
    }
}

extension Value {
    fileprivate var numberText: String {
        switch self {
        case .integer(let integer): "\(integer)"
        case .double(let double): "\(double)"
        default: ""
        }
    }
}
