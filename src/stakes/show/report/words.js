/* Numbers, counts and labels as text, written as Python writes them (stakes._core.text). */

globalThis.stakesWords = (() => {
  "use strict";

  /** Write a number: four significant digits, thousands separated. */
  function number(given) {
    const value = given + 0; // minus zero is zero
    if (Number.isNaN(value)) return "nan";
    if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
    if (Number.isInteger(value) || Math.abs(value) >= 1000) return withThousands(value);
    return general(value, 4);
  }

  function withThousands(value) {
    const digits = BigInt(Math.abs(roundHalfEven(value))).toString();
    const sign = value < 0 ? "-" : "";
    return sign + digits.replace(/\B(?=(\d{3})+$)/g, ",");
  }

  /** Write a number as C's %g does: ties to even, exponents of two digits. */
  function general(value, precision) {
    if (value === 0) return Object.is(value, -0) ? "-0" : "0";
    const sign = value < 0 ? "-" : "";
    const [digits, exponent] = significant(Math.abs(value), precision);
    const kept = digits.replace(/0+$/, "");
    if (exponent < -4 || exponent >= precision) {
      const point = kept.length > 1 ? `.${kept.slice(1)}` : "";
      const power = String(Math.abs(exponent)).padStart(2, "0");
      return `${sign}${kept[0]}${point}e${exponent < 0 ? "-" : "+"}${power}`;
    }
    if (exponent < 0) return `${sign}0.${"0".repeat(-exponent - 1)}${kept}`;
    const whole = digits.slice(0, exponent + 1);
    const rest = kept.slice(exponent + 1);
    return sign + whole + (rest ? `.${rest}` : "");
  }

  /** Return the leading digits of a positive number, ties to even, and its exponent of ten. */
  function significant(value, precision) {
    const split = (text) => {
      const [mantissa, exponent] = text.split("e");
      return [mantissa.replace(".", ""), Number(exponent)];
    };
    const [full, exponent] = split(value.toExponential(60));
    const tie = /^50*$/.test(full.slice(precision));
    // JavaScript rounds ties up, Python to even.
    if (tie && Number(full[precision - 1]) % 2 === 0) return [full.slice(0, precision), exponent];
    return split(value.toExponential(precision - 1));
  }

  /** Write a number with so many decimals, ties to even, as Python does. */
  function fixed(value, decimals) {
    const size = Math.abs(value);
    const text = size.toFixed(decimals);
    const full = size.toFixed(Math.min(100, decimals + 60));
    const cut = full.length - Math.min(100, decimals + 60) + decimals;
    const down = decimals === 0 ? full.slice(0, cut - 1) : full.slice(0, cut);
    const tie = /^50*$/.test(full.slice(cut)) && Number(down.at(-1)) % 2 === 0;
    const rounded = tie ? down : text;
    return (value < 0 ? "-" : "") + rounded;
  }

  function roundHalfEven(value) {
    const below = Math.floor(value);
    const rest = value - below;
    if (rest !== 0.5) return rest < 0.5 ? below : below + 1;
    return below % 2 === 0 ? below : below + 1;
  }

  const ESCAPED = { "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };

  /** Write a label as Python's repr does. */
  function quoted(label) {
    if (typeof label === "boolean") return label ? "True" : "False";
    if (typeof label !== "string") return String(label);
    const text = label.replace(/[\\\n\r\t]/g, (each) => ESCAPED[each]);
    if (!text.includes("'")) return `'${text}'`;
    return text.includes('"') ? `'${text.replaceAll("'", "\\'")}'` : `"${text}"`;
  }

  /** Write a p-value: two digits, and of tiny ones only that they are. */
  function pValue(value) {
    return value < 1e-4 ? "< 0.0001" : general(value, 2);
  }

  /** Write a threshold in six digits, or more near 1, never rounded up. */
  function threshold(value) {
    if (!Number.isFinite(value) || value === 0) return general(value, 6);
    const [mantissa, power] = Math.abs(value).toExponential().split("e");
    const [digits, exponent] = [mantissa.replace(".", ""), Number(power)];
    const decimals = Math.max(digits.length - 1 - exponent, 0);
    const size = digits.padEnd(exponent + decimals + 1, "0"); // in units of the last decimal
    const scaled = BigInt(Math.sign(value)) * BigInt(size);
    const fromOne = String(10n ** BigInt(decimals) - scaled).replace("-", "");
    const kept = 5 - Math.min(exponent, fromOne === "0" ? 0 : fromOne.length - 1 - decimals);
    if (decimals <= kept) return general(value, Math.max(digits.length, exponent < 16 ? exponent + 1 : 1));
    const unit = 10n ** BigInt(decimals - kept);
    const down = scaled / unit - (scaled < 0n && scaled % unit !== 0n ? 1n : 0n);
    return general(Number(`${down}e${-kept}`), exponent + kept + 1);
  }

  return { number, general, fixed, roundHalfEven, quoted, pValue, threshold };
})();
