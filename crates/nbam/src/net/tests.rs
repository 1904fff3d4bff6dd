use super::matmul::multiply_into;
use super::*;
use proptest::prelude::*;
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;

fn head(name: &str, outputs: usize, hidden: Option<usize>, skip: bool) -> Head {
    Head { name: name.into(), outputs, hidden, skip, starts_at_zero: false, bias: vec![0.1; outputs] }
}

/// Sum over rows and outputs of `output^2 * coefficient`, and its gradient, for any network.
fn objective(network: &Network, work: &mut Workspace, features: &Features<'_>, scaler: &Scaler) -> f64 {
    work.load(features, scaler, 0..features.rows());
    network.forward(work);
    let (outputs, gradient) = work.outputs_and_gradient(network);
    let mut total = 0.0;
    for (index, (output, gradient)) in outputs.iter().zip(gradient.iter_mut()).enumerate() {
        let coefficient = 0.1 * (index % 7) as f32 - 0.2;
        total += f64::from(output * output * coefficient);
        *gradient = 2.0 * output * coefficient;
    }
    network.backward(work);
    total
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn gradient_of_the_whole_network_is_its_derivative(
        seed in 0_u64..1000, rows in 1_usize..9, inputs in 1_usize..6, layers in 0_usize..3, relu in any::<bool>(),
    ) {
        let shape = Shape {
            inputs,
            hidden: vec![5, 4][..layers].to_vec(),
            activation: if relu { Activation::Relu } else { Activation::Tanh },
            heads: vec![head("clean", 3, None, true), head("prior", 1, Some(4), false), head("anomaly", 2, None, false)],
        };
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut network = Network::new(shape, &mut random).unwrap();
        let values: Vec<f32> = (0..rows * inputs).map(|i| ((i * 37 + seed as usize) % 19) as f32 / 7.0 - 1.2).collect();
        let features = Features::new(&values, inputs).unwrap();
        let scaler = Scaler::fit(&features, None, &Scaling::Columns).unwrap();
        let mut work = Workspace::new(&network, rows, true);
        objective(&network, &mut work, &features, &scaler);
        let gradient = work.gradient().to_vec();
        let step = 1e-2_f32;
        let (mut checked, mut wrong) = (0, Vec::new());
        for index in (0..gradient.len()).step_by(3) {
            let start = network.parameters()[index];
            let mut at = |shift: f32| {
                network.parameters_mut()[index] = start + shift;
                objective(&network, &mut work, &features, &scaler)
            };
            // Five points: the error of the difference is far below that of f32.
            let d = (8.0 * (at(step) - at(-step)) - (at(2.0 * step) - at(-2.0 * step))) / (12.0 * f64::from(step));
            network.parameters_mut()[index] = start;
            checked += 1;
            if (f64::from(gradient[index]) - d).abs() >= 2e-3 * (1.0 + d.abs()) {
                wrong.push((index, gradient[index], d));
            }
        }
        // A kink of relu within the steps makes a difference meaningless. That is rare, and a fault is everywhere.
        let allowed = if relu { checked / 2 } else { 0 };
        prop_assert!(wrong.len() <= allowed, "{wrong:?} of {checked}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whole numbers of at most four: every sum is exact, so that any order of adding gives the same bits.
    #[test]
    fn products_agree_with_loops(
        (rows, inner, columns) in (1_usize..40, prop_oneof![1_usize..40, 500_usize..530, 1020_usize..1030], 1_usize..75),
        (left_is_turned, right_is_turned, accumulates) in any::<(bool, bool, bool)>(),
        precision in prop_oneof![Just(Precision::Single), Just(Precision::Bfloat16)],
        seed in any::<u64>(),
    ) {
        // The right operand and the destination are columns of wider matrices; what lies beside them must stay.
        const BEFORE: usize = 3;
        const AFTER: usize = 2;
        let width = BEFORE + columns + AFTER;
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut draw = |count: usize| -> Vec<f32> { (0..count).map(|_| random.random_range(-4_i8..=4).into()).collect() };
        let (left, right, start) = (draw(rows * inner), draw(inner * width), draw(rows * width));
        let left_operand =
            if left_is_turned { Operand::new(&left, inner, rows).transposed() } else { Operand::new(&left, rows, inner) };
        let right_operand = if right_is_turned {
            Operand::new(&right, columns, inner).transposed()
        } else {
            Operand::columns_of(&right, inner, width, BEFORE..BEFORE + columns)
        };
        let mut out = start.clone();
        multiply_into(&mut out, width, BEFORE..BEFORE + columns, left_operand, right_operand, accumulates, precision);
        for (row, (out, start)) in out.chunks_exact(width).zip(start.chunks_exact(width)).enumerate() {
            for (column, (out, start)) in out.iter().zip(start).enumerate() {
                let Some(column) = column.checked_sub(BEFORE).filter(|&column| column < columns) else {
                    prop_assert_eq!(out, start);
                    continue;
                };
                let at = |l: usize| {
                    let left = left[if left_is_turned { l * rows + row } else { row * inner + l }];
                    left * right[if right_is_turned { column * inner + l } else { l * width + BEFORE + column }]
                };
                let product: f32 = (0..inner).map(at).sum();
                prop_assert_eq!(*out, if accumulates { start + product } else { product });
            }
        }
    }
}

/// More rows than are multiplied with one panel at a time.
#[test]
fn a_tall_product_agrees_with_loops() {
    let (rows, inner, columns) = (1_030, 20, 33);
    let left: Vec<f32> = (0..rows * inner).map(|i| (i % 11) as f32 - 5.0).collect();
    let right: Vec<f32> = (0..inner * columns).map(|i| (i % 7) as f32 - 3.0).collect();
    let mut out = vec![f32::NAN; rows * columns];
    for precision in [Precision::Single, Precision::Bfloat16] {
        multiply(&mut out, Operand::new(&left, rows, inner), Operand::new(&right, inner, columns), precision);
        for (at, value) in out.iter().enumerate() {
            let (row, column) = (at / columns, at % columns);
            let expected: f32 = (0..inner).map(|l| left[row * inner + l] * right[l * columns + column]).sum();
            assert_eq!(*value, expected, "row {row}, column {column}");
        }
    }
}

/// Operands are rounded to the nearest bfloat16, and nothing else is: against the `half` crate's rounding and sums in double precision.
#[test]
fn bfloat16_rounds_the_operands_and_nothing_else() {
    let (rows, inner, columns) = (35, 67, 40);
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let mut draw =
        |count: usize| -> Vec<f32> { (0..count).map(|_| random.random_range(-2.0..2.0)).collect() };
    let (left, right) = (draw(rows * inner), draw(inner * columns));
    let rounds = Precision::Bfloat16.here() == Precision::Bfloat16;
    let rounded = |value: f32| if rounds { half::bf16::from_f32(value).to_f64() } else { value.into() };
    let mut out = vec![f32::NAN; rows * columns];
    for is_turned in [false, true] {
        let (left_operand, right_operand) = if is_turned {
            (Operand::new(&left, inner, rows).transposed(), Operand::new(&right, columns, inner).transposed())
        } else {
            (Operand::new(&left, rows, inner), Operand::new(&right, inner, columns))
        };
        multiply(&mut out, left_operand, right_operand, Precision::Bfloat16);
        for (at, value) in out.iter().enumerate() {
            let (row, column) = (at / columns, at % columns);
            let terms = (0..inner).map(|l| {
                let (left_at, right_at) = if is_turned {
                    (l * rows + row, column * inner + l)
                } else {
                    (row * inner + l, l * columns + column)
                };
                rounded(left[left_at]) * rounded(right[right_at])
            });
            let expected: f64 = terms.sum();
            // Forgetting to round, or cutting the lower bits off, is off by 0.01 and more.
            assert!(
                (f64::from(*value) - expected).abs() < 1e-4,
                "row {row}, column {column}: {value} {expected}"
            );
        }
    }
}

#[test]
fn adam_follows_its_definition() {
    let mut parameters = vec![1.0_f32, -2.0];
    let mut adam = Adam::new(2);
    let (mut m, mut v, mut w) = ([0.0_f64; 2], [0.0_f64; 2], [1.0_f64, -2.0]);
    for step in 1..=5 {
        let gradient = [0.5_f32 * step as f32, -0.1];
        let half = gradient.map(|g| g / 2.0);
        adam.step(
            &mut parameters,
            &[&half, &half],
            0.01,
            &[(0..1, Pull { decay: 0.3, gaussian: 0.0 }), (1..2, Pull { decay: 0.0, gaussian: 0.2 })],
            false,
        );
        for i in 0..2 {
            let g = f64::from(gradient[i]) + [0.0, 0.2][i] * w[i];
            m[i] = 0.9 * m[i] + 0.1 * g;
            v[i] = 0.999 * v[i] + 0.001 * g * g;
            let decay = [0.3, 0.0][i];
            let update =
                (m[i] / (1.0 - 0.9_f64.powi(step))) / ((v[i] / (1.0 - 0.999_f64.powi(step))).sqrt() + 1e-8);
            w[i] = w[i] * (1.0 - 0.01 * decay) - 0.01 * update;
            assert!((f64::from(parameters[i]) - w[i]).abs() < 1e-5, "{step} {i}: {} {}", parameters[i], w[i]);
        }
    }
}

#[test]
fn rates_fall_as_their_schedules_say() {
    let at = |schedule: Schedule| [0.0, 0.25, 0.5, 0.75, 1.0].map(|progress| schedule.factor(progress));
    let close = |one: [f64; 5], other: [f64; 5]| {
        one.iter().zip(&other).for_each(|(one, other)| assert!((one - other).abs() < 1e-12, "{one} {other}"));
    };
    let eighth = std::f64::consts::FRAC_1_SQRT_2 / 2.0;
    close(at(Schedule::Constant), [1.0; 5]);
    close(at(Schedule::Cosine), [1.0, 0.5 + eighth, 0.5, 0.5 - eighth, 0.0]);
    close(at(Schedule::LateCosine), [1.0, 1.0, 1.0, 0.525, 0.05]);
}

#[test]
fn scaling_centres_and_divides() {
    let values = [1.0_f32, 100.0, 5.0, 3.0, 300.0, 5.0];
    let features = Features::new(&values, 3).unwrap();
    let columns = Scaler::fit(&features, None, &Scaling::Columns).unwrap();
    assert_eq!(columns, Scaler::plain(vec![2.0, 200.0, 5.0], vec![1.0, 0.01, 0.0]));
    let groups = Scaler::fit(&features, None, &Scaling::Groups(vec![4, 4, 7])).unwrap();
    let common = (1.0 / ((1.0_f64 + 1e4) / 2.0).sqrt()) as f32;
    assert_eq!(groups.scale, vec![common, common, 0.0]);
    assert!(Scaler::fit(&features, None, &Scaling::Groups(vec![1])).is_err());
}

/// A row of weight two is two rows, and one of weight zero is none.
#[test]
fn scaling_counts_a_row_with_its_weight() {
    let values = [1.0_f32, 10.0, 3.0, 30.0, -7e5, 4e6];
    let features = Features::new(&values, 2).unwrap();
    let weighted = Scaler::fit(&features, Some(&[2.0, 1.0, 0.0]), &Scaling::Columns).unwrap();
    let repeated = [1.0_f32, 10.0, 1.0, 10.0, 3.0, 30.0];
    let features = Features::new(&repeated, 2).unwrap();
    assert_eq!(weighted, Scaler::fit(&features, None, &Scaling::Columns).unwrap());
}

#[test]
fn half_rows_are_read_as_they_are() {
    let values: Vec<half::f16> = [1.5_f32, -2.0, 0.25, 8.0].map(half::f16::from_f32).to_vec();
    let features = Features::from_half(&values, 2).unwrap();
    let mut row = [0.0; 2];
    features.read_standardised(1, &[0.25, 4.0], &[1.0, 0.5], &mut row);
    assert_eq!(row, [0.0, 2.0]);
    assert_eq!(
        Features::new(&[1.0, 2.0, 3.0], 2).unwrap_err().to_string(),
        "3 feature values do not fill rows of 2 columns"
    );
    let error = Features::new(&[1.0, 2.0, f32::NAN, 4.0], 2).unwrap().check().unwrap_err();
    assert_eq!(error.to_string(), "feature 0 of row 1 is NaN, expected a finite number");
}
